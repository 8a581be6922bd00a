import { UserError, defined } from '../../../base/runtime/index.js'
import type { InventoryDisk, JsonObject } from '../../../base/wire/index.js'
import type { Host } from '../hosts/host.js'

const isSameIdentifier = (one: string | null | undefined, other: string | undefined): boolean =>
  one !== null && one !== undefined && other !== undefined && one.trim().toLowerCase() === other.trim().toLowerCase()

/**
 * The disk of an inventory that the file names.
 *
 * @throws UserError `no-disk`
 */
export function diskIn(
  disks: readonly InventoryDisk[],
  { name: host, disk }: Pick<Host, 'name' | 'disk'>,
): InventoryDisk {
  const { serial, wwn, name, 'by-id': byId } = disk
  const id = byId?.split('/').at(-1)!.toLowerCase()
  const found = disks.filter(
    (each) =>
      (serial === undefined || isSameIdentifier(each.serial, serial)) &&
      (wwn === undefined || isSameIdentifier(each.wwn, wwn) || isSameIdentifier(each.wwn_with_extension, wwn)) &&
      (name === undefined || each.name === `/dev/${name.replace(/^\/dev\//, '')}`) &&
      (id === undefined || [each.serial, each.wwn].some((one) => one && id.endsWith(one.trim().toLowerCase()))),
  )
  if (found.length === 1) return found[0]!
  const wanted = serial ?? wwn ?? byId ?? name
  const there = disks.map((each) => `${each.name} (${each.serial ?? each.wwn ?? 'no serial number'})`).join(', ')
  throw new UserError(
    'no-disk',
    found.length === 0 ? `${host} has no disk ${wanted}` : `${host} has ${found.length} disks ${wanted}`,
    { remedy: `nothing was written; it has ${there || 'no disk'}` },
  )
}

/** The words by which an Ironic knows a disk; null for one without a name that lasts. */
const hintOf = ({ serial, wwn }: InventoryDisk): JsonObject | null => {
  const hint = defined({ serial: serial || undefined, wwn: wwn || undefined })
  return Object.keys(hint).length === 0 ? null : hint
}

/**
 * Properties by which an Ironic installs on one disk and cleans no other. `skip` is null where it is unknown which ones
 * to leave alone.
 */
export function disksFor(
  disks: readonly InventoryDisk[],
  chosen: InventoryDisk,
): { root: JsonObject; skip: JsonObject[] | null } {
  const root = hintOf(chosen) ?? { name: chosen.name }
  const others = disks.filter((each) => each !== chosen).map(hintOf)
  const known = others.filter((hint) => hint !== null)
  const isDistinct = known.length === others.length && !known.some((hint) => covers(hint, chosen))
  return { root, skip: isDistinct ? known : null }
}

/** Whether a hint for another disk would spare the chosen one too: some disks of one model have the same serial number. */
const covers = (hint: JsonObject, { serial, wwn }: InventoryDisk): boolean =>
  Object.entries(hint).every(([key, value]) => isSameIdentifier(key === 'serial' ? serial : wwn, String(value)))
