import { bracketHost, withoutPasswords } from '../../base/bytes/index.js'
import { UserError } from '../../base/runtime/index.js'
import { ERRORS } from '../errors.js'

/** An SSH address; absent parts may come from `~/.ssh/config`. */
export interface SshAddress {
  host: string
  user: string | null
  port: number | null
}

const sshAddressError = (text: string, why: string, remedy: string) =>
  new UserError('ssh-address', `${text} cannot be used as an SSH target: ${why}`, { kind: 'usage', remedy })

/**
 * Parses `ssh://user@host[:port]`, with an IPv6 address in brackets.
 *
 * @throws UserError (usage) that never repeats a password
 */
export function parseSshTarget(text: string): SshAddress {
  const shown = withoutPasswords(text)
  let url: URL
  try {
    url = new URL(text)
  } catch {
    throw sshAddressError(shown, 'it is not a URL', ERRORS['ssh-address'].remedy)
  }
  if (url.password !== '')
    throw sshAddressError(
      shown,
      'every user of this host can read a password on a command line',
      'leave it out: set it in IRONSTAGE_SSH_PASSWORD, or type it when asked',
    )
  if (url.protocol !== 'ssh:' || url.hostname === '' || !/^\/?$/.test(url.pathname) || url.search || url.hash)
    throw sshAddressError(
      shown,
      'it has more or less than a user, a host and a port',
      'write it as ssh://user@host:port',
    )
  return checkSshAddress(shown, {
    host: decodeURIComponent(url.hostname).replace(/^\[|\]$/g, ''),
    user: url.username === '' ? null : decodeURIComponent(url.username),
    port: url.port === '' ? null : Number(url.port),
  })
}

/** Parses a host of a `ProxyJump` list: `[user@]host[:port]`, or a whole `ssh://` URL. */
export function parseJump(text: string): SshAddress {
  if (text.startsWith('ssh://')) return parseSshTarget(text)
  const [, user, bracketed, plain, port] = /^(?:(.*)@)?(?:\[([^\]]+)\]|([^:@]+))(?::(\d+))?$/.exec(text) ?? []
  const host = bracketed ?? plain
  if (host === undefined) throw sshAddressError(text, 'it has no host', 'write ProxyJump as user@host:port')
  return checkSshAddress(text, { host, user: user ?? null, port: port === undefined ? null : Number(port) })
}

function checkSshAddress(text: string, address: SshAddress): SshAddress {
  // ssh(1) refuses these as well: other programs would take them for options.
  if (/^-|[\s\0]/.test(address.host) || (address.user !== null && /^-|[\s\0]/.test(address.user)))
    throw sshAddressError(text, 'a host or user must not begin with a dash or contain blanks', 'correct it')
  if (address.port !== null && (address.port < 1 || address.port > 65_535))
    throw sshAddressError(text, `there is no port ${address.port}`, 'name one from 1 to 65535')
  return address
}

/** Text of an address, `user@host[:port]`. */
export function shownAddress({ host, user, port }: { host: string; user: string; port: number }): string {
  return `${user}@${bracketHost(host)}${port === 22 ? '' : `:${port}`}`
}
