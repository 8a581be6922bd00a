import { dialectOf, type BmcDialect, type FurtherMember } from '../../dialects/index.js'
import type { Machine } from '../../../machine/index.js'
import { FURTHER_FOLDER } from '../dialects/bmc-paths.js'
import { mapTexts } from '../dialects/spoken-dialect.js'
import { redfishPath, referenceTo, resourceHead, type Reference } from '../protocol/redfish-document.js'
import { ofMachine, type RedfishResource } from '../protocol/resource.js'

type MemberFolder = FurtherMember['folder']

const FOLDERS = {
  Systems: { schema: 'ComputerSystem', reads: 'read systems' },
  Managers: { schema: 'Manager', reads: 'read managers' },
  Chassis: { schema: 'Chassis', reads: 'read chassis' },
} as const

/** The members of machines in a collection: each machine's own between those that its BMC has beside it. */
export function memberReferences(folder: MemberFolder, machines: readonly Machine[]): Reference[] {
  return machines.flatMap(({ spec }) => {
    const own = referenceTo(folder, spec.id)
    if (spec.dialect === undefined) return own
    const placed = (place: FurtherMember['place']) =>
      dialectOf(spec)
        .resources.further.filter((each) => each.folder === folder && each.place === place)
        .map(({ id }) => referenceTo(folder, spec.id, FURTHER_FOLDER, id))
    return [...placed('first'), own, ...placed('last')]
  })
}

/** A path of a record with the name that resources have: of a further member, or of a machine's own. */
function memberPath(path: string, machine: string, { resources, paths }: BmcDialect): string {
  const [, folder, id] = /^\/redfish\/v1\/(\w+)\/([^/]+)$/.exec(path) ?? []
  const found = resources.further.find((each) => each.folder === folder && each.id === id)
  if (found) return redfishPath(found.folder, machine, FURTHER_FOLDER, found.id)
  const own = { Systems: paths.system, Managers: paths.manager, Chassis: paths.chassis }
  return Object.entries(own).some(([name, ownId]) => name === folder && ownId === id)
    ? redfishPath(folder ?? '', machine)
    : path
}

const furtherResource = (folder: MemberFolder): RedfishResource =>
  ofMachine(`/${folder}/{machine}/${FURTHER_FOLDER}/{member}`, {
    reads: FOLDERS[folder].reads,
    get: ({ machine: { spec }, params, spoken }) => {
      const found = spoken.dialect.resources.further.find(
        (each) => each.folder === folder && each.id === params['member'],
      )
      if (!found) return undefined
      const below = mapTexts(found.properties, (text) => memberPath(text, spec.id, spoken.dialect))
      const head = resourceHead(FOLDERS[folder].schema, [folder, spec.id, FURTHER_FOLDER, found.id], found.id)
      return { ...head, ...below }
    },
  })

/** Systems, managers and chassis behind which there is no machine: a baseboard of GPUs with a controller of its own. */
export const FURTHER_RESOURCES: readonly RedfishResource[] = [
  furtherResource('Systems'),
  furtherResource('Managers'),
  furtherResource('Chassis'),
]
