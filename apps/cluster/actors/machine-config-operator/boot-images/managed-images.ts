import {
  type LabelSelector,
  type MachineConfiguration,
  type MachineManager,
  selectsLabels,
} from '../../../../../base/kubernetes/index.js'
import type { PlatformSupport } from './boot-image-platforms.js'

type Managers = NonNullable<NonNullable<MachineConfiguration['status']>['managedBootImagesStatus']>
type ManagedResource = MachineManager['resource']

/** The setting in force, and whether it is the release that has begun to manage machine sets. */
interface ManagedImages {
  status: Managers
  isOptedIn: boolean
}

/**
 * The setting of a MachineConfiguration as it is in force: what the administrator says, or what the release does by default
 * (machine-config-operator 7ff337a pkg/operator/sync.go syncManagedBootImagesStatus).
 */
export function managedImages({ spec, status }: MachineConfiguration, support: PlatformSupport): ManagedImages {
  const wanted = spec.managedBootImages?.machineManagers
  // The first releases knew no mode None: an empty list is it.
  if (wanted?.length === 0) return { status: { machineManagers: [] }, isOptedIn: false }
  const before = status?.managedBootImagesStatus?.machineManagers
  const asked = managerOf(wanted, 'machinesets')
  const isOptedIn =
    !asked &&
    support.isManagedByDefault &&
    (before === undefined || managerOf(before, 'machinesets')?.selection.mode === 'None')
  const sets = asked ?? managerWith('machinesets', support.isManagedByDefault ? 'All' : 'None')
  const controlPlane = managerOf(wanted, 'controlplanemachinesets') ?? managerWith('controlplanemachinesets', 'None')
  return { status: { machineManagers: support.managesControlPlane ? [sets, controlPlane] : [sets] }, isOptedIn }
}

const managerOf = (managers: readonly MachineManager[] | undefined, resource: ManagedResource) =>
  managers?.find((manager) => manager.apiGroup === 'machine.openshift.io' && manager.resource === resource)

const managerWith = (resource: ManagedResource, mode: 'All' | 'None'): MachineManager => ({
  resource,
  apiGroup: 'machine.openshift.io',
  selection: { mode },
})

/** True if the setting in force has a mode for all machine sets. */
export const managesAll = (status: Managers | undefined): boolean =>
  managerOf(status?.machineManagers, 'machinesets')?.selection.mode === 'All'

/** Which objects of a resource are managed, by their labels (helpers.go getMachineResourceSelectorFromMachineManagers). */
export function isEnrolled(
  status: Managers | undefined,
  resource: ManagedResource,
  labels: Readonly<Record<string, string>> = {},
): boolean {
  const { mode, partial } = managerOf(status?.machineManagers, resource)?.selection ?? { mode: 'None' }
  if (mode !== 'Partial') return mode === 'All'
  const selector: LabelSelector = partial?.machineResourceSelector ?? {}
  return selectsLabels(selector, labels)
}
