import type { Logger } from '../../runtime/index.js'
import type { Target } from '../../targets/index.js'
import { finish, shown, type Finished } from '../sdk/run-command.js'

/**
 * Makes the target's kernel and udev see what was written to a disk. Nothing here fails: whoever needs a partition
 * finds out that it is missing.
 */
export async function rescanDevice(target: Target, device: string, logger: Logger): Promise<void> {
  const run = async (argv: [string, ...string[]], effect: 'reads' | 'writes') => {
    const finished = await finish(target.executor, argv, { effect })
    if (!succeeded(finished)) logger('debug', `${shown(argv)} did not succeed`, { stderr: finished.stderr.trim() })
    return succeeded(finished)
  }
  await run(['sync'], 'writes')
  await run(['udevadm', 'settle'], 'reads')
  // The whole table at once is refused while one partition is in use; partx then adds and updates the others.
  if (!(await run(['blockdev', '--rereadpt', device], 'writes'))) await run(['partx', '--update', device], 'writes')
  await run(['udevadm', 'settle'], 'reads')
}

const succeeded = ({ exit }: Finished) => exit.kind === 'exited' && exit.code === 0
