import { errorChain, type Logger } from '../../runtime/index.js'
import { compareIdentities } from '../../targets/index.js'
import { makeUnbootable } from '../../steps/index.js'
import type { RealTarget } from '../targets/real-target.js'

/**
 * After an installation that failed: a target that was booted meanwhile takes no more commands of that installation, so
 * that its step could not clear the disk, on which a table with a boot partition but without a config may be. The same
 * machine, reached anew, is asked once more.
 *
 * Best effort: what made the installation fail is what is told, and the target may be gone. A disk that the machine runs
 * from by now is in use, and stays as it is.
 */
export async function clearedAfterBoot(on: RealTarget, logger: Logger): Promise<void> {
  const { ssh, reopen, disk } = on
  if (!ssh || !reopen) return
  try {
    await using again = await reopen()
    const now = again.ssh!.shell.identity
    // In the same boot the step has done it.
    if (compareIdentities(ssh.shell.identity, now) !== 'rebooted') return
    await makeUnbootable(again.target, again.disk.path, logger)
  } catch (error) {
    logger('error', `${disk.path} may still be bootable: ${errorChain(error).join(': ')}`)
  }
}
