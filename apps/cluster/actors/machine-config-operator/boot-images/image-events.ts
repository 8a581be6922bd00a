import { isDeepStrictEqual } from 'node:util'
import type {
  ConfigMap,
  ControlPlaneMachineSet,
  MachineConfiguration,
  MachineSet,
} from '../../../../../base/kubernetes/index.js'

/** Objects that a pass over the boot images depends on. */
export interface SeenObjects {
  sets: readonly MachineSet[]
  controlPlane: readonly ControlPlaneMachineSet[]
  images: ConfigMap | undefined
  settings: MachineConfiguration
  /** Release of the operator. */
  release: string
  /** False from the beginning of an upgrade on. */
  isStable: boolean
}

/**
 * The event that begins a pass, by its name in the conditions; undefined where nothing has changed that a pass depends on
 * (machine-config-operator 7ff337a pkg/controller/bootimage/boot_image_controller.go). A new operator begins as with a new
 * ConfigMap.
 */
export function eventBetween(before: SeenObjects | undefined, after: SeenObjects): string | undefined {
  if (!before || before.release !== after.release) return 'BootImageConfigMapAdded'
  if (!before.isStable) return 'ClusterVersionStable'
  if (before.images?.metadata.resourceVersion !== after.images?.metadata.resourceVersion)
    return `BootImageConfigMap${changeOf(before.images, after.images)}`
  if (!isDeepStrictEqual(settingsOf(before), settingsOf(after))) return 'BootImageUpdateConfigurationUpdated'
  const ofSets = changeOfAll(before.sets, after.sets)
  if (ofSets !== undefined) return `MAPIMachineSet${ofSets}`
  const ofControlPlane = changeOfAll(before.controlPlane, after.controlPlane)
  return ofControlPlane === undefined ? undefined : `ControlPlaneMachineSet${ofControlPlane}`
}

type ObjectChange = 'Added' | 'Updated' | 'Deleted'

const changeOf = (before: object | undefined, after: object | undefined): ObjectChange =>
  before === undefined ? 'Added' : after === undefined ? 'Deleted' : 'Updated'

/** Conditions and generation are not looked at: the controller itself writes the first. */
const settingsOf = ({ settings: { status } }: SeenObjects): unknown => status?.managedBootImagesStatus

function changeOfAll(
  before: readonly (MachineSet | ControlPlaneMachineSet)[],
  after: readonly (MachineSet | ControlPlaneMachineSet)[],
): ObjectChange | undefined {
  const named = (name: string) => before.find(({ metadata }) => metadata.name === name)
  if (after.some(({ metadata }) => named(metadata.name) === undefined)) return 'Added'
  if (before.length > after.length) return 'Deleted'
  return after.some((set) => !isDeepStrictEqual(partsOf(set), partsOf(named(set.metadata.name)!)))
    ? 'Updated'
    : undefined
}

/** Parts of a machine set whose change begins a pass: settings, labels, annotations and owners. */
function partsOf({ metadata, spec }: MachineSet | ControlPlaneMachineSet): unknown {
  const { labels, annotations, ownerReferences } = metadata
  return { labels, annotations, ownerReferences, template: spec.template }
}
