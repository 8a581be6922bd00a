import type { Logger } from '../../runtime/index.js'
import type { Target } from '../executors/executor.js'
import { finish, runCommand } from '../run-command.js'

/**
 * Mounts a partition read-only on the target while `work` looks at it, and unmounts it whatever happens. The folder is
 * a path for programs of the target.
 *
 * Counts as reading: nothing on a disk changes, and an agent that restarts must mount again, not be told that it did.
 *
 * @throws CommandFailed when it cannot be mounted
 */
export async function withMounted<T>(
  target: Target,
  partition: string,
  logger: Logger,
  work: (folder: string) => Promise<T>,
): Promise<T> {
  const folder = `/run/ironstage/${partition.replace(/^\/dev\//, '').replaceAll('/', '-')}`
  await runCommand(target.executor, ['mkdir', '-p', folder])
  // An agent that was killed meanwhile has left it mounted; mostly there is nothing to unmount.
  await finish(target.executor, ['umount', folder])
  await runCommand(target.executor, ['mount', '-o', 'ro', partition, folder])
  try {
    return await work(folder)
  } finally {
    const { exit, stderr } = await finish(target.executor, ['umount', folder])
    if (exit.kind !== 'exited' || exit.code !== 0)
      logger('warn', `${partition} could not be unmounted from ${folder}`, { stderr: stderr.trim() })
  }
}
