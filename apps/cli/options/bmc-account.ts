import type { CommandOptionValues } from './resolve-options.js'
import { usageError } from '../usage-error.js'

/**
 * The account that `--bmc-user` and `--bmc-password` name.
 *
 * @param otherwise what holds without the options
 * @throws UserError `bmc-account` for a user without a password
 */
export function bmcAccountOf(
  { 'bmc-user': username, 'bmc-password': password }: CommandOptionValues<'bmc-user' | 'bmc-password'>,
  otherwise: string,
): { bmcAccount?: { username: string; password: string } } {
  if (password !== undefined) return { bmcAccount: { username: username ?? 'admin', password } }
  if (username === undefined) return {}
  throw usageError(
    '--bmc-user needs --bmc-password',
    `add --bmc-password, or leave both out: ${otherwise}`,
    'bmc-account',
  )
}
