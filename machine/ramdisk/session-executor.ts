import type { Executor } from '../../targets/index.js'
import type { RamdiskSession } from './ramdisk-session.js'

/**
 * Executor of a machine, whose session is another one after each boot.
 *
 * @param reach rejects while the machine is off or runs something else
 */
export function sessionExecutor(reach: <T>(use: (session: RamdiskSession) => Promise<T>) => Promise<T>): Executor {
  return {
    start: (command) => reach((session) => session.start(command)),
    attach: (id, offset) => reach((session) => session.attach(id, offset)),
    files: {
      read: (path) => reach((session) => session.files.read(path)),
      write: (path, bytes, options) => reach((session) => session.files.write(path, bytes, options)),
      remove: (path) => reach((session) => session.files.remove(path)),
      exists: (path) => reach((session) => session.files.exists(path)),
      list: (path) => reach((session) => session.files.list(path)),
    },
  }
}
