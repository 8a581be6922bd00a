import { errorChain, type Logger } from '../../../base/runtime/index.js'
import { compareIdentities } from '../../../targets/index.js'
import { makeUnbootable } from '../../../steps/index.js'
import type { RealTarget } from '../targets/real-target.js'

/**
 * Clears the disk after a failed installation, when the target has rebooted meanwhile. A rebooted target refuses the
 * commands of that installation, so the step could not clear the disk, which may have a boot partition without a config.
 * This opens a new connection to the same machine.
 *
 * Best effort: a failure here is only logged, so that the installation's own error is reported. A disk that the machine
 * runs from by now is in use, and stays unchanged.
 */
export async function clearDiskAfterReboot(on: RealTarget, logger: Logger): Promise<void> {
  const { ssh, reopen, disk } = on
  if (!ssh || !reopen) return
  try {
    await using again = await reopen()
    const now = again.ssh!.shell.identity
    // In the same boot the step itself has cleared the disk.
    if (compareIdentities(ssh.shell.identity, now) !== 'rebooted') return
    // Another disk may be plugged in where this one was.
    if (again.disk.size !== disk.size || again.disk.model !== disk.model)
      throw new Error(`${again.disk.path} is another disk than before the reboot`)
    await makeUnbootable(again.target, again.disk.path, logger)
  } catch (error) {
    logger('error', `${disk.path} may still be bootable: ${errorChain(error).join(': ')}`)
  }
}
