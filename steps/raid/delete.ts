import { isObject } from '../../base/runtime/index.js'
import { eraseMetadata } from '../erase-devices/erase-metadata.js'
import { listBlockDevices } from '../hardware/block-devices.js'
import { diskOf, readPartitions } from '../hardware/read-partitions.js'
import { deletableArrays, deleteArray, listRaidArrays } from '../hardware/software-raid.js'
import { runCommand } from '../sdk/run-command.js'
import type { StepContext } from '../sdk/step.js'

/**
 * Deletes the software RAID volumes and the partition tables of their disks, except volumes in the node's
 * `skip_block_devices` and those with a member on a disk that may not be written.
 */
export async function deleteVolumes(context: StepContext): Promise<void> {
  const { target, progress, logger, signal } = context
  const devices = await listBlockDevices(target)
  const arrays = await listRaidArrays(target)
  const skipped = skippedVolumes(context)
  const gone = deletableArrays(target, arrays, devices).filter(({ name }) => {
    const volume = devices.find((device) => device.name === name)?.volumeName
    return volume === undefined || !skipped.includes(volume)
  })
  const remaining = arrays.filter((array) => !gone.includes(array))
  for (const { name } of remaining) logger('info', `keeping ${name}`)

  const names = devices.map(({ name }) => name)
  const disksOf = (members: readonly string[]) => members.flatMap((member) => diskOf(member, names) ?? [])
  const disksInUse = remaining.flatMap(({ members }) => disksOf(members))
  for (const array of gone) {
    progress.stage(`deleting ${array.name}`)
    await deleteArray(target, array, logger)
  }
  const holders = new Set(gone.flatMap(({ members }) => disksOf(members)))
  const writable = devices.filter((device) => device.type === 'disk' && target.disks.mayWrite(device))
  for (const { name } of writable) {
    if (disksInUse.includes(name)) continue
    // Members of an array that could not be assembled, because a disk is missing.
    const strays = (await readPartitions(target, name)).partitions.filter(
      ({ filesystem }) => filesystem === 'linux_raid_member',
    )
    for (const stray of strays)
      await runCommand(target.executor, ['mdadm', '--zero-superblock', stray.name], { effect: 'writes', signal })
    if (holders.has(name) || strays.length > 0) await eraseMetadata(context, name)
  }
}

function skippedVolumes({ node }: StepContext): string[] {
  const properties = node['properties']
  const skip = isObject(properties) ? properties['skip_block_devices'] : undefined
  return (Array.isArray(skip) ? skip : []).flatMap((hints: unknown) =>
    isObject(hints) && typeof hints['volume_name'] === 'string' ? [hints['volume_name']] : [],
  )
}
