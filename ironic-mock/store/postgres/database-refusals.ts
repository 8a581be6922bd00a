import { UserError } from '../../../base/runtime/index.js'
import type { DatabaseAddress, DatabaseHost } from './database-address.js'
import { PasswordMissing } from './read-address.js'

/** SQLSTATE of an error of PostgreSQL, or Node's code. */
export const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''

const sentenceOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** SQLSTATEs of PostgreSQL (its appendix "Error Codes"). */
const INVALID_AUTHORIZATION = '28000'
const INVALID_PASSWORD = '28P01'
const NO_DATABASE = '3D000'
const TOO_MANY_CONNECTIONS = '53300'
const PROTOCOL_VIOLATION = '08P01'
/** The server starts, stops, or has been stopped. */
const AWAY: readonly string[] = ['57P01', '57P02', '57P03']

/**
 * True if the same host may take a connection with TLS when it refuses one without, or the reverse: no entry in its
 * pg_hba.conf, or no TLS at all (libpq tries then too).
 */
export function isAlternativeWorthwhile(error: unknown): boolean {
  const code = codeOf(error)
  if (code === INVALID_AUTHORIZATION) return true
  // Errors of `pg` have no code.
  if (/SSL connection/.test(sentenceOf(error))) return true
  return code === 'EPROTO' || code.startsWith('ERR_SSL') || code.startsWith('ERR_TLS')
}

/** True if the server cannot be reached at present: another host of the list may. */
export function isServerAway(error: unknown): boolean {
  const code = codeOf(error)
  if (AWAY.includes(code)) return true
  if (error instanceof AggregateError) return true
  if (/^(timeout expired|Connection terminated)/.test(sentenceOf(error))) return true
  return /^E[A-Z_]+$/.test(code) && code !== 'EPROTO' && !code.startsWith('ERR_')
}

/** The sentence for a server that answers, and does not let this user in. */
export function connectRefusal(error: unknown, address: DatabaseAddress, { config, shown }: DatabaseHost): UserError {
  const refused = (message: string, remedy: string, code: 'database-refused' | 'database-unfit' = 'database-refused') =>
    new UserError(code, message, { kind: 'usage', remedy, cause: error })
  const serverMessage = sentenceOf(error)
  const { user, database } = config
  if (error instanceof PasswordMissing)
    return refused(
      `the database at ${shown} asks user ${user} for a password, and there is none`,
      'name a file with it: --database-password-file FILE, or set PGPASSWORD',
    )
  switch (codeOf(error)) {
    case INVALID_PASSWORD:
      return refused(
        `the database at ${shown} refuses the password of user ${user}`,
        'correct the password of --database-password-file, PGPASSWORD or the password file',
      )
    case INVALID_AUTHORIZATION:
      return refused(
        `the database at ${shown} refuses user ${user}: ${serverMessage}`,
        'correct the user, or pg_hba.conf there',
      )
    case NO_DATABASE:
      return refused(
        `there is no database ${database} at ${shown}`,
        `create it: createdb --owner ${user} ${database}, or correct the name`,
      )
    case TOO_MANY_CONNECTIONS:
      return refused(
        `the database at ${shown} takes no more connections: ${serverMessage}`,
        'raise max_connections there, or end processes: each of ironstage needs two',
      )
    case PROTOCOL_VIOLATION:
      return poolerRefusal(error, shown)
    default:
      return refused(
        `the database ${address.shown} cannot be used: ${serverMessage}`,
        'correct its address or its settings',
      )
  }
}

/** PgBouncer has one SQLSTATE for all that it refuses. */
function poolerRefusal(error: unknown, shown: string): UserError {
  const serverMessage = sentenceOf(error)
  const isParameter = serverMessage.includes('unsupported startup parameter')
  return new UserError('database-refused', `the pool at ${shown} refuses the connection: ${serverMessage}`, {
    kind: 'usage',
    remedy: isParameter ? 'name the parameter in its ignore_startup_parameters' : 'correct the user or the database',
    cause: error,
  })
}
