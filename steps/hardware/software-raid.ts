import type { Logger } from '../../base/runtime/index.js'
import type { Target } from '../../targets/index.js'
import { runToEnd, type FinishedCommand } from '../sdk/run-command.js'
import { sysText, type BlockDevice } from './block-devices.js'
import { diskOf } from './read-partitions.js'

/** A software RAID array that the target's kernel runs. */
export interface RaidArray {
  /** `/dev/md127` */
  name: string
  /** Partitions or disks: `/dev/sda1`. */
  members: string[]
}

/** Reads /proc/mdstat: `md127 : active raid1 sdb1[1] sda1[0](F)`. */
function parseMdstat(text: string): RaidArray[] {
  return text.split('\n').flatMap((line) => {
    const array = /^(md\S+) : (.*)$/.exec(line)
    const members = [...(array?.[2] ?? '').matchAll(/(\S+?)\[\d+\]/g)].map((member) => `/dev/${member[1]}`)
    return array ? [{ name: `/dev/${array[1]}`, members }] : []
  })
}

export async function listRaidArrays(target: Target): Promise<RaidArray[]> {
  return parseMdstat((await sysText(target.executor, '/proc/mdstat')) ?? '')
}

/**
 * The arrays that may be deleted: those whose members are all on disks that the policy lets steps write. A policy of one
 * disk thus protects every array with a member on another disk.
 */
export function deletableArrays(
  target: Target,
  arrays: readonly RaidArray[],
  devices: readonly BlockDevice[],
): RaidArray[] {
  const names = devices.map((device) => device.name)
  return arrays.filter(({ members }) =>
    members.every((member) => {
      const disk = devices.find((device) => device.name === diskOf(member, names))
      return disk !== undefined && target.disks.mayWrite(disk)
    }),
  )
}

/** Stops an array and removes the superblocks of its members. Failures are logged only: the disk may still be usable. */
export async function deleteArray(target: Target, { name, members }: RaidArray, logger: Logger): Promise<void> {
  const run = async (...argv: [string, ...string[]]) => {
    const finished = await runToEnd(target.executor, argv, { effect: 'writes' })
    if (!succeeded(finished))
      logger('warn', `${argv.join(' ')} failed while deleting ${name}; later commands may fail`, {
        stderr: finished.stderr.trim(),
      })
  }
  await run('wipefs', '--all', '--force', name)
  await run('mdadm', '--stop', name)
  for (const member of members) await run('mdadm', '--zero-superblock', member)
}

const succeeded = ({ exit }: FinishedCommand) => exit.kind === 'exited' && exit.code === 0
