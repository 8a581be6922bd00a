import { ownerOfError, traceOwners, type Logger } from '../runtime/index.js'

/**
 * The last resort of a process that works for many nodes: an error that nothing caught fails the work that it belongs to,
 * and is logged once with the name of that work. An error of no such work ends the process, with its stack, as it does
 * without this.
 */
export function containStrayErrors(logger: Logger): Disposable {
  const owners = traceOwners()
  const caught = (error: unknown) => {
    const owner = ownerOfError()
    if (!owner) {
      process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`)
      process.exit(1)
    }
    const ended = !owner.fail(error)
    logger('error', `${owner.name} threw an error that nothing caught${ended ? ', after it had ended' : ''}`, { error })
  }
  process.on('uncaughtException', caught)
  return {
    [Symbol.dispose]: () => {
      process.off('uncaughtException', caught)
      owners[Symbol.dispose]()
    },
  }
}
