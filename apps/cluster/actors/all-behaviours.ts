import { BARE_METAL_OPERATOR_BEHAVIOURS } from '../../../baremetal-operator/index.js'
import type { Behaviour } from '../../../base/kubernetes/index.js'
import * as baremetal from './cluster-baremetal-operator.js'
import { NAMES_NO_IMAGE } from './installer-behaviours.js'
import * as version from './cluster-version-operator/cluster-version-behaviours.js'
import * as machineApi from './machine-api-operator/machine-api-behaviours.js'
import * as machineConfig from './machine-config-operator/machine-config-behaviours.js'
import * as images from './image-customization-controller/image-behaviours.js'

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
  baremetal.NEEDS_ADDRESS,
  baremetal.REPORTS_FIRST,
  baremetal.IGNORES_IMAGE_SERVICE,
  ...Object.values(images),
  NAMES_NO_IMAGE,
].sort((a, b) => (a.name < b.name ? -1 : 1))
