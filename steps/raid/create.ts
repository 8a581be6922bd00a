import { errorChain } from '../../base/runtime/index.js'
import { listBlockDevices, type BlockDevice } from '../hardware/block-devices.js'
import { bootMode } from '../hardware/boot-mode.js'
import { partitionPath, readPartitions } from '../hardware/read-partitions.js'
import { rescanDevice } from '../hardware/rescan.js'
import { listRaidArrays } from '../hardware/software-raid.js'
import { runCommand } from '../sdk/run-command.js'
import { StepError, type StepContext } from '../sdk/step.js'
import { layOut, type PlannedVolume } from './raid-layout.js'
import type { LogicalDisk } from './raid-config.js'

/** gdisk's name of the partition type "Linux RAID". */
const LINUX_RAID = 'fd00'

/**
 * Creates the volumes: a partition on each disk for each volume, and an md device over each row of partitions.
 *
 * @throws StepError of type SoftwareRAIDError; earlier changes are not undone
 */
export async function createVolumes(context: StepContext, volumes: readonly LogicalDisk[]): Promise<void> {
  const { target, progress, logger, signal } = context
  const run = (argv: [string, ...string[]]) => runCommand(target.executor, argv, { effect: 'writes', signal })
  const disks = await freeDisks(context, volumes)
  const planned = layOut(volumes, disks, await bootMode(target.executor))
  const used = new Set(planned.flatMap(({ members }) => members.map(({ disk }) => disk)))
  for (const disk of used) await refusePartitions(context, disk)
  try {
    for (const disk of used) {
      progress.stage(`partitioning ${disk}`)
      await run(['sgdisk', '--clear', disk])
      for (const { number, startMib, sizeMib } of membersOn(planned, disk))
        await run([
          'sgdisk',
          `--new=${number}:${startMib}M:${sizeMib === null ? '0' : `+${sizeMib}M`}`,
          `--typecode=${number}:${LINUX_RAID}`,
          disk,
        ])
      await rescanDevice(target, disk, logger)
    }
    const taken = (await listRaidArrays(target)).map(({ name }) => name)
    for (const { logical, members } of planned) {
      const name = freeName(taken)
      taken.push(name)
      progress.stage(`creating ${name}`)
      const level = logical.raid_level === '1+0' ? '10' : logical.raid_level
      await run([
        ...(['mdadm', '--create', name, '--force', '--run', '--metadata=1', '--level', level] as const),
        '--name',
        logical.volume_name ?? name.replace('/dev/md', ''),
        '--raid-devices',
        String(members.length),
        ...members.map(({ disk, number }) => partitionPath(disk, number)),
      ])
      logger('info', `${name} is a RAID-${logical.raid_level} over ${members.map(({ disk }) => disk).join(', ')}`)
    }
  } catch (error) {
    signal.throwIfAborted()
    throw new StepError(`creating the software RAID volumes: ${errorChain(error).join(': ')}`, {
      type: 'SoftwareRAIDError',
      cause: error,
    })
  }
}

const membersOn = (planned: readonly PlannedVolume[], disk: string) =>
  planned
    .flatMap(({ members }) => members)
    .filter((member) => member.disk === disk)
    .sort((a, b) => a.number - b.number)

function freeName(taken: readonly string[]): string {
  for (let number = 0; ; number++) if (!taken.includes(`/dev/md${number}`)) return `/dev/md${number}`
}

/** Disks that volumes may use: those that the policy lets steps write. */
async function freeDisks({ target, logger }: StepContext, volumes: readonly LogicalDisk[]): Promise<BlockDevice[]> {
  const disks = (await listBlockDevices(target)).filter(({ type }) => type === 'disk')
  const allowed = disks.filter((disk) => target.disks.mayWrite(disk))
  if (allowed.length < disks.length)
    logger('info', `only ${allowed.length} of ${disks.length} disks may be written`, { volumes: volumes.length })
  return allowed
}

async function refusePartitions({ target }: StepContext, disk: string): Promise<void> {
  const { partitions } = await readPartitions(target, disk)
  if (partitions.length > 0)
    throw new StepError(
      `${disk} has partitions: ${partitions.map(({ name }) => name).join(', ')}. Clean the disk, or have the existing configuration deleted first.`,
      { type: 'SoftwareRAIDError' },
    )
}
