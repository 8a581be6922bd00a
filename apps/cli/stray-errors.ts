import { ownerOfError, traceOwners, type Logger } from '../../base/runtime/index.js'
import type { Environment } from './environment.js'
import { reportFailure } from './failure.js'

/**
 * The last resort of a process that works for many nodes: an error that nothing caught fails the work that it belongs to,
 * and is logged once with the name of that work. An error of no such work ends the process, as it does without this.
 */
export function containStrayErrors({ stderr, onStrayError }: Environment, logger: Logger): Disposable {
  const owners = traceOwners()
  const stray = onStrayError?.((error) => {
    const owner = ownerOfError()
    if (!owner) {
      reportFailure(error, stderr)
      process.exit(1)
    }
    const ended = !owner.fail(error)
    logger('error', `${owner.name} threw an error that nothing caught${ended ? ', after it had ended' : ''}`, { error })
  })
  return {
    [Symbol.dispose]: () => {
      stray?.[Symbol.dispose]()
      owners[Symbol.dispose]()
    },
  }
}
