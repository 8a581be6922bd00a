import { connect } from 'node:net'
import { errorChain, Scope, type Clock, type Logger } from '../../base/runtime/index.js'
import type { SshConnection } from './ssh-connection.js'

export interface ForwardParts {
  /** Name of the target, for messages. */
  name: string
  /** Opens a connection to the target. */
  open: (signal: AbortSignal) => Promise<SshConnection>
  /** Port of this host's loopback interface. */
  port: number
  clock: Clock
  logger: Logger
}

/** A port of the target that is forwarded to this host. */
export interface ForwardedPort extends AsyncDisposable {
  /** Port of the target's loopback interface, which its network cannot reach. */
  readonly port: number
}

const FORWARD_RETRY_DELAY = 1000

/**
 * Forwards a port of the target to one of this host, over a separate connection. A lost connection is opened again, with the
 * same port.
 *
 * @throws UserError, LinkLost as for any connection; UserError when the target's sshd does not forward ports
 */
export async function forwardPort({ name, open, port, clock, logger }: ForwardParts): Promise<ForwardedPort> {
  const scope = new Scope()
  const forward = async (wanted: number) => {
    const connection = await open(scope.signal)
    try {
      const theirs = await connection.forwardIn(wanted, () => connect({ host: '127.0.0.1', port, noDelay: true }))
      return { connection, theirs }
    } catch (error) {
      await connection[Symbol.asyncDispose]()
      throw error
    }
  }
  let { connection, theirs } = await forward(0).catch(async (error: unknown) => {
    await scope[Symbol.asyncDispose]()
    throw error
  })
  scope.onClose(() => connection[Symbol.asyncDispose]())
  scope.spawn(
    async (signal) => {
      for (;;) {
        await connection.closed
        signal.throwIfAborted()
        logger('warn', `the link from ${name} to this host is lost`)
        for (;;) {
          await clock.sleep(FORWARD_RETRY_DELAY, { signal })
          try {
            ;({ connection, theirs } = await forward(theirs))
            break
          } catch (error) {
            signal.throwIfAborted()
            logger('debug', `the link from ${name} to this host: ${errorChain(error).join(': ')}`)
          }
        }
      }
    },
    (error) => logger('error', errorChain(error).join(': ')),
  )
  return { port: theirs, [Symbol.asyncDispose]: () => scope[Symbol.asyncDispose]() }
}
