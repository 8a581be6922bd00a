import { connect, type Socket } from 'node:net'
import { errorChain, UserError, userError, minutes, type Clock } from '../../base/runtime/index.js'
import { LinkLost } from '../supervised/login-shell.js'
import { shownAddress } from './address.js'
import type { Authentication } from './authentication.js'
import type { SshHostSettings } from './host-settings.js'
import { ERRORS } from '../errors.js'

/** Time for authentication, without questions to the user. */
export const AUTHENTICATION_TIMEOUT = minutes(2)

/** Opens a TCP connection to a host, which may have several addresses. */
export async function openTcp(
  { host, port, ...settings }: SshHostSettings,
  expired: Promise<never>,
  signal: AbortSignal | undefined,
  over: AbortSignal,
): Promise<Socket> {
  const name = shownAddress({ host, port, ...settings })
  const socket = connect({ host, port, noDelay: true })
  try {
    await Promise.race([
      new Promise<void>((resolve, reject) => {
        signal?.addEventListener('abort', () => reject(signal.reason as Error), { once: true, signal: over })
        socket.once('connect', resolve)
        socket.once('error', (cause) => reject(new LinkLost(`${name} cannot be reached`, { cause: plainCause(cause) })))
      }),
      expired.catch(() => {
        throw new LinkLost(`${name} does not answer`)
      }),
    ])
    return socket
  } catch (error) {
    socket.on('error', () => {})
    socket.destroy()
    throw error
  }
}

/** Unpacks the error for a host with several addresses, whose own message only says that there were several. */
const plainCause = (error: Error): Error =>
  error instanceof AggregateError && error.errors.length > 0 ? (error.errors[0] as Error) : error

/** Turns an error of ssh2 into a UserError when it is final, or a LinkLost when another attempt may succeed. */
export function asLost(
  error: Error & { level?: string },
  name: string,
  authentication: Authentication | undefined,
): Error {
  const known = userError(error)
  if (known) return known
  if (error.level === 'client-authentication') return loginRefusedError(name, authentication)
  if (/no matching|Handshake failed/i.test(error.message))
    return new UserError('ssh-algorithms', `${name} and ironstage have no algorithm in common`, {
      cause: error,
      remedy: ERRORS['ssh-algorithms'].remedy,
    })
  return new LinkLost(`${name} cannot be reached`, { cause: new Error(errorChain(error).join(': ')) })
}

function loginRefusedError(name: string, authentication: Authentication | undefined): UserError {
  const { takes = [], notes = [] } = authentication ?? {}
  const reasons = notes.length > 0 ? `: ${[...new Set(notes)].join('; ')}` : ''
  return new UserError('ssh-authentication', `${name} refuses the login${reasons}`, {
    remedy: `it accepts ${takes.join(', ') || 'no method that it listed'}; see that ssh ${name.replace(/:(\d+)$/, ' -p $1')} works`,
  })
}

/** A time limit that can be extended, and that pauses during a question to the user. */
export function extendableLimit(clock: Clock, signal: AbortSignal, first: number) {
  let current = new AbortController()
  let expire = (_: Error): void => {}
  const expired = new Promise<never>((_, reject) => (expire = reject))
  expired.catch(() => {})
  const arm = (ms: number) => {
    current.abort()
    current = new AbortController()
    clock.sleep(ms, { weak: true, signal: AbortSignal.any([signal, current.signal]) }).then(
      () => expire(new Error('expired')),
      () => {},
    )
  }
  arm(first)
  return {
    expired,
    extend: arm,
    pausedFor: async <T>(question: () => Promise<T>): Promise<T> => {
      current.abort()
      try {
        return await question()
      } finally {
        arm(AUTHENTICATION_TIMEOUT)
      }
    },
  }
}
