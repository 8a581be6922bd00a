import { unusableDump } from './dump-error.js'
import { lastPartOf, linkAt, linksAt, objectAt, schemaAt, type DumpedDocument } from './dump-values.js'
import type { DumpedResource, RedfishDump } from './redfish-dump.js'

/** The resources of a dump that make one machine: its system, the manager of that, and its chassis. */
export interface DumpedSystem {
  readonly root: DumpedResource
  readonly system: DumpedResource
  readonly manager: DumpedResource | undefined
  readonly chassis: DumpedResource | undefined
  /** Ids of the service's other systems. */
  readonly others: readonly string[]
}

const RESET = '#ComputerSystem.Reset'

const canReset = (document: DumpedDocument): boolean => objectAt(document, 'Actions', RESET) !== undefined

/**
 * The machine of a dump. Of several systems it is the only one that can be reset: a baseboard with accelerators, as an NVIDIA
 * HGX shows it, cannot.
 *
 * @param wanted id of the system
 * @throws UserError `bmc-dump` for a dump without a system, and for one of which there are several
 */
export function dumpedSystem(dump: RedfishDump, wanted?: string): DumpedSystem {
  const root = dump.find('/redfish/v1')
  if (!root) throw unusableDump(`${dump.name} has no service root: it has no /redfish/v1`)
  const system = chosenSystem(dump, root, wanted)
  const schema = schemaAt(system.document)
  if (schema !== undefined && schema !== 'ComputerSystem')
    throw unusableDump(`${system.path} of ${dump.name} is a ${schema}, and no ComputerSystem`)
  const others = memberPaths(dump, linkAt(root.document, 'Systems'))
    .map(lastPartOf)
    .filter((id) => id !== lastPartOf(system.path))
  return {
    root,
    system,
    manager: managerOf(dump, root, system),
    chassis: chassisOf(dump, root, system),
    others,
  }
}

/** The paths of a collection's members. */
export const memberPaths = (dump: RedfishDump, collection: string | undefined): string[] => [
  ...new Set(linksAt(dump.document(collection), 'Members')),
]

/** The members of a collection that the dump has. */
export const membersOf = (dump: RedfishDump, collection: string | undefined): DumpedResource[] =>
  memberPaths(dump, collection).flatMap((path) => dump.find(path) ?? [])

function chosenSystem(dump: RedfishDump, { document }: DumpedResource, wanted: string | undefined): DumpedResource {
  const collection = linkAt(document, 'Systems')
  if (collection === undefined) throw unusableDump(`${dump.name} has no machine: its service root links to no Systems`)
  const paths = memberPaths(dump, collection)
  if (paths.length === 0)
    throw unusableDump(
      dump.find(collection)
        ? `${dump.name} has no machine: ${collection} has no members`
        : `${dump.name} lacks ${collection}, to which its service root links: it may be cut off`,
    )
  const ids = paths.map(lastPartOf)
  if (wanted !== undefined) {
    const path = paths.find((each) => lastPartOf(each).toLowerCase() === wanted.toLowerCase())
    if (path === undefined) throw unusableDump(`${dump.name} has no system ${wanted}`, `name one of ${ids.join(', ')}`)
    return presentSystem(dump, path)
  }
  const [only, ...others] = paths
  if (only !== undefined && others.length === 0) return presentSystem(dump, only)
  const resettable = paths.filter((path) => canReset(dump.document(path) ?? {}))
  const [chosen, ...more] = resettable
  if (chosen !== undefined && more.length === 0) return presentSystem(dump, chosen)
  throw unusableDump(`${dump.name} has ${paths.length} systems: ${ids.join(', ')}`, 'choose one by --system ID')
}

function presentSystem(dump: RedfishDump, path: string): DumpedResource {
  const system = dump.find(path)
  if (system) return system
  throw unusableDump(`${dump.name} lacks ${path}, a member of its Systems: it may be cut off`)
}

/** The manager of a system: of several the one with slots for virtual media. Huawei links it as `Managers` (openstack/sushy). */
function managerOf(
  dump: RedfishDump,
  { document: root }: DumpedResource,
  { path, document }: DumpedResource,
): DumpedResource | undefined {
  const linked = [...linksAt(document, 'Links', 'ManagedBy'), ...linksAt(document, 'Links', 'Managers')]
  const all = membersOf(dump, linkAt(root, 'Managers'))
  const managing = all.filter((each) => linksAt(each.document, 'Links', 'ManagerForServers').includes(path))
  const candidates = [...linked.flatMap((each) => dump.find(each) ?? []), ...managing, ...all]
  const hasSlots = (each: DumpedResource) => memberPaths(dump, linkAt(each.document, 'VirtualMedia')).length > 0
  return candidates.find(hasSlots) ?? candidates[0]
}

function chassisOf(
  dump: RedfishDump,
  { document: root }: DumpedResource,
  { path, document }: DumpedResource,
): DumpedResource | undefined {
  const linked = linksAt(document, 'Links', 'Chassis').flatMap((each) => dump.find(each) ?? [])
  const all = membersOf(dump, linkAt(root, 'Chassis'))
  const holding = all.filter((each) => linksAt(each.document, 'Links', 'ComputerSystems').includes(path))
  const candidates = [...linked, ...holding]
  const canBeReset = (each: DumpedResource) => objectAt(each.document, 'Actions', '#Chassis.Reset') !== undefined
  return candidates.find(canBeReset) ?? candidates[0] ?? all[0]
}
