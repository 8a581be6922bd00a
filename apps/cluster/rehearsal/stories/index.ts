import type { Scenario } from '../scenario.js'
import { BOOT_IMAGE_STORIES } from './boot-image-stories.js'
import { DEPLOY_IMAGE_STORIES } from './deploy-image-stories.js'
import { HOST_STORIES } from './host-stories.js'
import { NODE_IMAGE_STORIES } from './node-image-stories.js'
import { OPERATOR_STORIES } from './operator-stories.js'

/** The stories of the design documents. */
export const STORIES: readonly Scenario[] = [
  ...DEPLOY_IMAGE_STORIES,
  ...HOST_STORIES,
  ...BOOT_IMAGE_STORIES,
  ...NODE_IMAGE_STORIES,
  ...OPERATOR_STORIES,
]
