import type { Logger } from '../../base/runtime/index.js'
import type { Target } from '../../targets/index.js'
import { runToEnd, runCommand } from '../sdk/run-command.js'

/**
 * Mounts a partition read-only on the target while `work` reads it, and unmounts it in any case. The folder is a path for
 * programs of the target.
 *
 * Its commands count as reading: nothing on a disk changes, and a restarted agent must mount again instead of attaching to
 * the finished mount command.
 *
 * @throws CommandFailed when the partition cannot be mounted
 */
export async function withMounted<T>(
  target: Target,
  partition: string,
  logger: Logger,
  work: (folder: string) => Promise<T>,
): Promise<T> {
  const folder = mountFolderOf(partition)
  await Promise.all([
    runCommand(target.executor, ['mkdir', '-p', folder], { effect: 'reads' }),
    // A killed agent may have left it mounted; usually there is nothing to unmount.
    runToEnd(target.executor, ['umount', folder], { effect: 'reads' }),
  ])
  return mounted(target, partition, folder, 'ro', logger, work)
}

/**
 * The same for writing. Each call uses a new folder: a restarted agent attaches to earlier commands by their words, and
 * must not take the old mount for the new one.
 */
export async function withMountedForWriting<T>(
  target: Target,
  partition: string,
  logger: Logger,
  work: (folder: string) => Promise<T>,
): Promise<T> {
  const folder = `${mountFolderOf(partition)}-${target.clock.now()}`
  await runCommand(target.executor, ['mkdir', '-p', folder], { effect: 'writes' })
  return mounted(target, partition, folder, 'rw', logger, work)
}

const mountFolderOf = (partition: string) =>
  `/run/ironstage/mnt/${partition.replace(/^\/dev\//, '').replaceAll('/', '-')}`

async function mounted<T>(
  target: Target,
  partition: string,
  folder: string,
  access: 'ro' | 'rw',
  logger: Logger,
  work: (folder: string) => Promise<T>,
): Promise<T> {
  const effect = access === 'ro' ? 'reads' : 'writes'
  await runCommand(target.executor, ['mount', '-o', access, partition, folder], { effect })
  try {
    return await work(folder)
  } finally {
    const { exit, stderr } = await runToEnd(target.executor, ['umount', folder], { effect })
    if (exit.kind !== 'exited' || exit.code !== 0)
      logger('warn', `${partition} could not be unmounted from ${folder}`, { stderr: stderr.trim() })
  }
}
