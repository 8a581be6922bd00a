import { during, type Logger } from '../../base/runtime/index.js'
import type { Target } from '../../targets/index.js'
import { readPartitions } from '../hardware/read-partitions.js'
import { rescanDevice } from '../hardware/rescan.js'
import { runCommand } from '../sdk/run-command.js'

/**
 * Makes a disk unbootable after a failed installation, because it may be incomplete or lack its Ignition config. The
 * installer clears the partition table itself, but not when it was killed, or when a later check fails.
 *
 * @throws Error when a boot partition remains
 */
export async function makeUnbootable(target: Target, device: string, logger: Logger): Promise<void> {
  await rescanDevice(target, device, logger)
  if (!(await hasBootPartition(target, device))) return
  logger('warn', `clearing the partition table of ${device}, since the installation failed`)
  // sgdisk exits with 2 when the table was damaged.
  await during(`clearing the partition table of ${device}`, () =>
    runCommand(target.executor, ['sgdisk', '--zap-all', device], { effect: 'writes', accept: [0, 2] }),
  )
  await rescanDevice(target, device, logger)
  if (await hasBootPartition(target, device)) throw new Error(`${device} still has a boot partition`)
}

const hasBootPartition = async (target: Target, device: string) =>
  (await readPartitions(target, device)).partitions.some((p) => p.label === 'boot' || p.partitionLabel === 'boot')
