import type { Logger } from '../../base/runtime/index.js'
import type { Target } from '../../targets/index.js'
import { runToEnd, printCommand, type FinishedCommand } from '../sdk/run-command.js'

/**
 * Makes the target's kernel and udev read a changed disk again. It never fails: a caller that needs a partition notices
 * when that is missing.
 */
export async function rescanDevice(target: Target, device: string, logger: Logger): Promise<void> {
  const run = async (argv: [string, ...string[]], effect: 'reads' | 'writes') => {
    const finished = await runToEnd(target.executor, argv, { effect })
    if (!succeeded(finished))
      logger('debug', `${printCommand(argv)} did not succeed`, { stderr: finished.stderr.trim() })
    return succeeded(finished)
  }
  await run(['sync'], 'writes')
  await run(['udevadm', 'settle'], 'reads')
  // The kernel does not read the whole table while a partition is in use; partx then adds and updates the others.
  // A kernel that reads no GPT forgets all partitions then, and partx tells it of each.
  const isReread = await run(['blockdev', '--rereadpt', device], 'writes')
  if (!isReread || target.readsPartitions === false) await run(['partx', '--update', device], 'writes')
  await run(['udevadm', 'settle'], 'reads')
}

const succeeded = ({ exit }: FinishedCommand) => exit.kind === 'exited' && exit.code === 0
