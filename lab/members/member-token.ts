import { createHmac, timingSafeEqual } from 'node:crypto'
import { seconds } from '../../base/runtime/index.js'

/** Header by which a process of the database is known to another. */
export const MEMBER_HEADER = 'x-ironstage-process'

/** A token is good for so long; clocks of hosts differ by less. */
const TOKEN_LIFE = seconds(300)

/** A request of one process to another. */
export interface MemberRequest {
  /** Number of the stream of the process that is asked. */
  readonly stream: number
  /** Path with the query. */
  readonly target: string
}

/**
 * A token for one request of one process. The secret itself is never sent: another program may have the port of a process
 * that has ended, and a token tells it nothing that it could use.
 *
 * @param now milliseconds since the epoch
 */
export const memberToken = (secret: string, request: MemberRequest, now: number): string =>
  `${now}.${signatureOf(secret, request, now)}`

/** True if a token is of another process of the same database, for this request. */
export function isMemberToken(token: string, secret: string, request: MemberRequest, now: number): boolean {
  const [time = '', signature = ''] = token.split('.')
  const at = Number(time)
  if (!/^\d{1,16}$/.test(time) || Math.abs(now - at) > TOKEN_LIFE) return false
  const own = Buffer.from(signatureOf(secret, request, at))
  const other = Buffer.from(signature)
  return own.length === other.length && timingSafeEqual(own, other)
}

const signatureOf = (secret: string, { stream, target }: MemberRequest, now: number): string =>
  createHmac('sha256', secret).update(`${stream}\n${now}\n${target}`).digest('base64url')
