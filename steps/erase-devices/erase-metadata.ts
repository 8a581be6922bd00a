import { defined } from '../../base/runtime/index.js'
import { rescanDevice } from '../hardware/rescan.js'
import { readPartitions } from '../hardware/read-partitions.js'
import { runCommand } from '../sdk/run-command.js'
import type { StepContext } from '../sdk/step.js'

/** Bytes of a GPT: header and 128 entries of 128 bytes, which is 33 sectors of 512 or 5 of 4096. */
const gptSectors = (sectorSize: number) => 1 + Math.ceil((128 * 128) / sectorSize)

/**
 * Destroys the signatures on a disk and its partitions, the partition table and the copy of the table at the disk's end.
 * Partitions come first, since they vanish with the table.
 */
export async function eraseMetadata({ target, logger, signal }: StepContext, disk: string): Promise<void> {
  const run = (argv: [string, ...string[]], accept?: readonly number[]) =>
    runCommand(target.executor, argv, { effect: 'writes', signal, ...defined({ accept }) })
  const { partitions } = await readPartitions(target, disk)
  for (const { name } of partitions.reverse()) await run(['wipefs', '--force', '--all', name])
  await run(['wipefs', '--force', '--all', disk])
  const [sectorSize, size] = await dimensions(disk, target)
  const sectors = gptSectors(sectorSize)
  const zero = (...where: string[]) =>
    run(['dd', `bs=${sectorSize}`, 'if=/dev/zero', `of=${disk}`, ...where, 'oflag=direct'])
  // One more at the beginning, for the protective MBR. wipefs leaves the copy of a table whose original was damaged.
  await zero(`count=${sectors + 1}`)
  await zero(`count=${sectors}`, `seek=${size / sectorSize - sectors}`)
  // sgdisk exits with 2 when the table was damaged, as it now is.
  await run(['sgdisk', '-Z', disk], [0, 2])
  await rescanDevice(target, disk, logger)
}

async function dimensions(disk: string, target: StepContext['target']): Promise<[sectorSize: number, size: number]> {
  const ask = async (option: string) =>
    Number((await runCommand(target.executor, ['blockdev', option, disk], { effect: 'reads' })).stdout.trim())
  return [await ask('--getss'), await ask('--getsize64')]
}
