import { UserError, defined, GIB, MIB, parseSize } from '../../../base/runtime/index.js'
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
  const { serial, wwn, name, size, 'by-id': byId, 'by-path': byPath } = disk
  const place = byPath?.split('/').at(-1)
  const id = byId?.split('/').at(-1)!.toLowerCase()
  const found = disks.filter(
    (each) =>
      (serial === undefined || isSameIdentifier(each.serial, serial)) &&
      (wwn === undefined || isSameIdentifier(each.wwn, wwn) || isSameIdentifier(each.wwn_with_extension, wwn)) &&
      (place === undefined || each.by_path === `/dev/disk/by-path/${place}`) &&
      (size === undefined || Math.floor(each.size / MIB) * MIB === parseSize(String(size))) &&
      (name === undefined || each.name === `/dev/${name.replace(/^\/dev\//, '')}`) &&
      (id === undefined || [each.serial, each.wwn].some((one) => one && id.endsWith(one.trim().toLowerCase()))),
  )
  if (found.length === 1) return found[0]!
  const wanted = serial ?? wwn ?? byId ?? byPath ?? name
  const there = disks
    .map((each) => `${each.name} (${each.serial ?? each.wwn ?? each.by_path ?? 'no name that lasts'})`)
    .join(', ')
  throw new UserError(
    'no-disk',
    found.length === 0 ? `${host} has no disk ${wanted}` : `${host} has ${found.length} disks ${wanted}`,
    { remedy: `nothing was written; it has ${there || 'no disk'}` },
  )
}

/** The words by which an Ironic knows a disk, its place where it has no others; null for one without a name that lasts. */
function hintOf({ serial, wwn, by_path: place }: InventoryDisk): JsonObject | null {
  const hint = defined({ serial: serial || undefined, wwn: wwn || undefined })
  if (Object.keys(hint).length > 0) return hint
  return place ? { by_path: place } : null
}

/** As above; another disk may be plugged in at a place, so that its size counts too. */
function rootHintOf(disk: InventoryDisk): JsonObject {
  const hint = hintOf(disk)
  if (hint === null) return { name: disk.name }
  const size = Math.floor(disk.size / GIB)
  return 'by_path' in hint && size > 0 ? { ...hint, size } : hint
}

/**
 * Properties by which an Ironic installs on one disk and cleans no other. `skip` is null where it is unknown which ones
 * to leave alone.
 */
export function disksFor(
  disks: readonly InventoryDisk[],
  chosen: InventoryDisk,
): { root: JsonObject; skip: JsonObject[] | null } {
  const root = rootHintOf(chosen)
  const others = disks.filter((each) => each !== chosen).map(hintOf)
  const known = others.filter((hint) => hint !== null)
  const isDistinct = known.length === others.length && !known.some((hint) => covers(hint, chosen))
  return { root, skip: isDistinct ? known : null }
}

/** True if a hint for another disk would spare the chosen one too: some disks of one model have the same serial number. */
const covers = (hint: JsonObject, disk: InventoryDisk): boolean =>
  (['serial', 'wwn', 'by_path'] as const).every(
    (key) => hint[key] === undefined || isSameIdentifier(disk[key], String(hint[key])),
  )
