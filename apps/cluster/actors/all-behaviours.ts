import { BARE_METAL_OPERATOR_BEHAVIOURS } from './baremetal-operator/baremetal-behaviours.js'
import type { Behaviour } from './behaviours.js'
import * as baremetal from './cluster-baremetal-operator.js'
import * as version from './cluster-version-operator/cluster-version-behaviours.js'
import * as machineApi from './machine-api-operator/machine-api-behaviours.js'
import * as machineConfig from './machine-config-operator/machine-config-behaviours.js'
import * as images from './image-customization-controller/image-customization-controller.js'

/** The behaviours of all actors, in the order of their names. */
export const ALL_BEHAVIOURS: readonly Behaviour[] = [
  ...BARE_METAL_OPERATOR_BEHAVIOURS,
  ...Object.values(version),
  ...Object.values(machineApi),
  ...Object.values(machineConfig),
  baremetal.COPIES_THE_ISO,
  baremetal.IMAGE_SERVICE_FIRST,
  baremetal.RESTARTS_IRONIC,
  baremetal.WAITS_FOR_ROLLOUT,
  images.EMBEDS_THE_AGENT,
  images.ONE_IMAGE_A_HOST,
  images.REMAKES_IMAGES,
].sort((a, b) => (a.name < b.name ? -1 : 1))
