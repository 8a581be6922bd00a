import { connect } from 'node:net'
import { errorChain, Scope, type Clock, type Logger } from '../../runtime/index.js'
import type { SshConnection } from './connection.js'

export interface LendParts {
  /** For messages. */
  name: string
  /** Makes a connection to the target. */
  open: (signal: AbortSignal) => Promise<SshConnection>
  /** Port of this host's loopback interface. */
  port: number
  clock: Clock
  logger: Logger
}

/** A port of this host as the target sees it. */
export interface LentPort extends AsyncDisposable {
  /** Of the target's own loopback interface: nobody else on its network reaches it. */
  readonly port: number
}

const PAUSE = 1000

/**
 * Lets the target reach one port of this host by a port of its own, over a connection of its own; it is made again, with
 * the same port, when it goes.
 *
 * @throws UserError, LinkLost as for any connection; Error when the target's sshd forwards nothing
 */
export async function lendPort({ name, open, port, clock, logger }: LendParts): Promise<LentPort> {
  const scope = new Scope()
  const lend = async (wanted: number) => {
    const connection = await open(scope.signal)
    try {
      const theirs = await connection.forwardIn(wanted, () => connect({ host: '127.0.0.1', port, noDelay: true }))
      return { connection, theirs }
    } catch (error) {
      await connection[Symbol.asyncDispose]()
      throw error
    }
  }
  let { connection, theirs } = await lend(0).catch(async (error: unknown) => {
    await scope[Symbol.asyncDispose]()
    throw error
  })
  scope.onClose(() => connection[Symbol.asyncDispose]())
  scope.spawn(
    async (signal) => {
      for (;;) {
        await connection.closed
        signal.throwIfAborted()
        logger('warn', `the link by which ${name} reaches this host went`)
        for (;;) {
          await clock.sleep(PAUSE, { signal })
          try {
            ;({ connection, theirs } = await lend(theirs))
            break
          } catch (error) {
            signal.throwIfAborted()
            logger('debug', `the link by which ${name} reaches this host: ${errorChain(error).join(': ')}`)
          }
        }
      }
    },
    (error) => logger('error', errorChain(error).join(': ')),
  )
  return { port: theirs, [Symbol.asyncDispose]: () => scope[Symbol.asyncDispose]() }
}
