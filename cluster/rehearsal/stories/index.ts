import type { Scenario } from '../scenario.js'
import { BOOT_IMAGE_STORIES } from './boot-images.js'
import { DEPLOY_IMAGE_STORIES } from './deploy-images.js'
import { HOST_STORIES } from './hosts.js'
import { NODE_IMAGE_STORIES } from './node-images.js'
import { OPERATOR_STORIES } from './operators.js'

/** The stories of the design documents. */
export const STORIES: readonly Scenario[] = [
  ...DEPLOY_IMAGE_STORIES,
  ...HOST_STORIES,
  ...BOOT_IMAGE_STORIES,
  ...NODE_IMAGE_STORIES,
  ...OPERATOR_STORIES,
]
