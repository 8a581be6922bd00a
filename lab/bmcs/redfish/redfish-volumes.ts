import { GIB, UserError } from '../../../base/runtime/index.js'
import type { JsonObject } from '../../../base/wire/index.js'
import type { RedfishResource } from './redfish-connection.js'
import { linkIn, linksIn, numberIn, textIn, type RedfishJson } from './redfish-json.js'
import { missingAttribute, type RedfishSystem } from './redfish-system.js'
import { awaitTask } from './redfish-tasks.js'

/** Redfish's names of RAID levels, and the fewest drives of each (ironic 39.0.0 drivers/modules/redfish/raid.py). */
const RAID_LEVELS: Readonly<Record<string, { readonly type: string; readonly drives: number }>> = {
  '0': { type: 'RAID0', drives: 1 },
  '1': { type: 'RAID1', drives: 2 },
  '5': { type: 'RAID5', drives: 3 },
  '6': { type: 'RAID6', drives: 4 },
  '1+0': { type: 'RAID10', drives: 4 },
  '5+0': { type: 'RAID50', drives: 6 },
  '6+0': { type: 'RAID60', drives: 8 },
}

interface VolumeStorage {
  readonly storage: RedfishResource
  /** Path of the collection of volumes. */
  readonly volumes: string
}

/** Replaces all volumes of the storage controllers that have any. */
export async function replaceVolumes(system: RedfishSystem, wanted: readonly JsonObject[]): Promise<void> {
  const { document, path } = await system.read()
  const all = await system.members(linkIn(document, 'Storage'))
  const makers = all.flatMap((storage): VolumeStorage[] => {
    const volumes = linkIn(storage.document, 'Volumes')
    return volumes === undefined ? [] : [{ storage, volumes }]
  })
  const [first] = makers
  if (!first && wanted.length > 0) throw missingAttribute('Volumes', all[0]?.path ?? path)
  for (const { volumes } of makers)
    for (const { path: volume } of await system.members(volumes))
      await system.connection.delete(volume, system.options.signal)
  let used = 0
  for (const disk of wanted) used += await createVolume(system, first!, disk, used)
}

/** @returns number of drives that it takes */
async function createVolume(
  system: RedfishSystem,
  { storage, volumes }: VolumeStorage,
  disk: JsonObject,
  used: number,
): Promise<number> {
  const level = RAID_LEVELS[String(disk.raid_level)]
  const drives = linksIn(storage.document, 'Drives')
  if (!level || drives.length < level.drives)
    throw new UserError(
      'bmc-refuses',
      `No suitable RAID controller with ${level?.drives ?? 'enough'} drives for RAID level ${String(disk.raid_level)} found on node ${system.uuid}`,
    )
  const free = drives.length - used >= level.drives ? drives.slice(used) : drives
  const count = numberIn(disk, 'number_of_physical_disks') ?? level.drives
  const taken = free.slice(0, count)
  const change: RedfishJson = {
    RAIDType: level.type,
    Links: { Drives: taken.map((path) => ({ '@odata.id': path })) },
  }
  const size = numberIn(disk, 'size_gb')
  const name = textIn(disk, 'volume_name')
  if (size !== undefined) change['CapacityBytes'] = Math.floor(size * GIB)
  if (name !== undefined) change['Name'] = name
  await awaitTask(system, await system.connection.post(volumes, change, system.options.signal))
  return taken.length
}
