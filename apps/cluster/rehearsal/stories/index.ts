import type { ClusterEra } from '../../../../base/kubernetes/index.js'
import type { Scenario } from '../scenario.js'
import { BOOT_IMAGE_STORIES } from './boot-image-stories.js'
import { CLOUD_STORIES } from './cloud-stories.js'
import { DEPLOY_IMAGE_STORIES } from './deploy-image-stories.js'
import { HOST_STORIES } from './host-stories.js'
import { INTERNAL_RELEASE_STORIES } from './internal-release-stories.js'
import { NODE_IMAGE_STORIES } from './node-image-stories.js'
import { STREAM_STORIES } from './stream-stories.js'
import { OPERATOR_STORIES } from './operator-stories.js'
import { TODAY_BOOT_IMAGE_STORIES } from './today-boot-image-stories.js'
import { TODAY_DEPLOY_IMAGE_STORIES } from './today-deploy-image-stories.js'
import { TODAY_OPERATOR_STORIES } from './today-operator-stories.js'

/** All stories: those of the design documents, and as they go today. Two of one name are of one subject. */
export const STORIES: readonly Scenario[] = [
  ...DEPLOY_IMAGE_STORIES,
  ...HOST_STORIES,
  ...BOOT_IMAGE_STORIES,
  ...NODE_IMAGE_STORIES,
  ...OPERATOR_STORIES,
  ...TODAY_DEPLOY_IMAGE_STORIES,
  ...TODAY_BOOT_IMAGE_STORIES,
  ...TODAY_OPERATOR_STORIES,
  ...STREAM_STORIES,
  ...INTERNAL_RELEASE_STORIES,
  ...CLOUD_STORIES,
]

/** The stories of an era, each name once. */
export const storiesOf = (as: ClusterEra): readonly Scenario[] =>
  STORIES.filter((story) => story.as === undefined || story.as === as)
