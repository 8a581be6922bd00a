import { addressError } from './database-address.js'

/** A URL of a database, taken apart: parameters by libpq's names, `host` and `port` with a comma between several. */
export interface DatabaseUrl {
  readonly parameters: ReadonlyMap<string, string>
}

/** As libpq reads it (PostgreSQL 15 libpq-connect.html, "Connection URIs"); Node's own URL takes no list of hosts. */
const FORM =
  /^postgres(?:ql)?:\/\/(?:(?<account>[^@/]*)@)?(?<hosts>[^/?]*)(?:\/(?<database>[^?]*))?(?:\?(?<query>.*))?$/s
const ONE_HOST = /^(?<host>\[[^\]]*\]|[^:]*)(?::(?<port>[^:]*))?$/

/** @throws UserError (database-address, usage) that does not repeat what may be a password */
export function readDatabaseUrl(url: string): DatabaseUrl {
  const parameters = new Map<string, string>()
  if (url === '') return { parameters }
  const groups = FORM.exec(url)?.groups
  if (!groups) throw badUrl('is not a URL of PostgreSQL')
  const set = (name: string, value: string | undefined): void => {
    if (value !== undefined && value !== '') parameters.set(name, value)
  }
  const { account, hosts = '', database, query } = groups
  if (account !== undefined) {
    const colon = account.indexOf(':')
    set('user', decoded(colon === -1 ? account : account.slice(0, colon)))
    if (colon !== -1) set('password', decoded(account.slice(colon + 1)))
  }
  const places = hosts.split(',').map((one) => {
    const place = ONE_HOST.exec(one)?.groups
    if (!place) throw badUrl('has a host that cannot be read')
    return { host: decoded(place['host'] ?? '').replace(/^\[(.*)\]$/, '$1'), port: place['port'] ?? '' }
  })
  if (hosts !== '') {
    set('host', places.map(({ host }) => host).join(','))
    if (places.some(({ port }) => port !== '')) parameters.set('port', places.map(({ port }) => port).join(','))
  }
  if (database !== undefined) set('dbname', decoded(database))
  for (const pair of (query ?? '').split('&').filter(Boolean)) {
    const [name = '', value, ...more] = pair.split('=')
    if (value === undefined || more.length > 0) throw badUrl('has a parameter that is not NAME=VALUE')
    set(decoded(name), decoded(value))
  }
  return { parameters }
}

/** True if a URL brings a password along, in either place; also one with a slash in it, which libpq takes for a port. */
export const hasPassword = (url: string): boolean => /^[a-z]+:\/\/[^?]*:[^?]*@/i.test(url) || /[?&]password=/i.test(url)

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch (cause) {
    throw badUrl('has a % that is not followed by two hexadecimal digits', cause)
  }
}

const badUrl = (problem: string, cause?: unknown): Error =>
  addressError(
    `the URL of --database ${problem}`,
    'write it as in postgres://USER@HOST:5432/DATABASE, with %40 for an @ in a name',
    cause,
  )
