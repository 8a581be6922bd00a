import { readFile } from 'node:fs/promises'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import type { ClientConfig } from 'pg'
import { addressError, type DatabaseAddress, type DatabaseHost } from './database-address.js'
import { hasPassword, readDatabaseUrl, type DatabaseUrl } from './database-url.js'
import { databaseTls, type TlsChoice } from './database-tls.js'
import { passwordInFile } from './password-file.js'

/** Options and environment that describe a database. */
export interface AddressRequest {
  /**
   * `postgres://USER@HOST:PORT/DATABASE?sslmode=...`; empty for a database that the environment describes. It has no password
   * unless it is the environment's `IRONSTAGE_DATABASE`: every user of a host can read a command line.
   */
  readonly url: string
  /** File whose first line is the password, which is in the environment otherwise. */
  readonly passwordFile?: string | undefined
  /** Name of PostgreSQL's schema; that of a cluster whose user named none is `ironstage`. */
  readonly schema?: string | undefined
  /** The environment: `PGHOST`, `PGUSER` and their fellows, as libpq has them. */
  readonly variables: Readonly<Record<string, string | undefined>>
}

const DEFAULT_DATABASE_SCHEMA = 'ironstage'

const DEFAULT_PORT = 5432
/** Debian's folder of sockets. libpq tries that of its own build; other systems have the server at localhost. */
const DEFAULT_HOSTS = ['/var/run/postgresql', 'localhost']
/** Milliseconds after which a host that does not answer is given up; libpq waits for as long as TCP does. */
const CONNECT_TIMEOUT = 10_000
/** Milliseconds of silence until the kernel asks whether the other side is there. */
const KEEPALIVE_DELAY = 1000
/** Bytes that PostgreSQL keeps of a name. */
const MAX_NAME_BYTES = 63

/** Environment variable of each parameter, as libpq has them. */
const VARIABLES = {
  host: 'PGHOST',
  port: 'PGPORT',
  user: 'PGUSER',
  dbname: 'PGDATABASE',
  password: 'PGPASSWORD',
  passfile: 'PGPASSFILE',
  sslmode: 'PGSSLMODE',
  sslrootcert: 'PGSSLROOTCERT',
  sslcert: 'PGSSLCERT',
  sslkey: 'PGSSLKEY',
  options: 'PGOPTIONS',
  application_name: 'PGAPPNAME',
  connect_timeout: 'PGCONNECT_TIMEOUT',
  target_session_attrs: 'PGTARGETSESSIONATTRS',
} as const

type ParameterName = keyof typeof VARIABLES

/** All values are as ironstage needs them. */
const WRITABLE_TARGETS: readonly string[] = ['any', 'read-write', 'primary']

/**
 * Finds a database's hosts, TLS and password as libpq does: the URL counts before the environment, and the environment before
 * the user's files.
 *
 * @throws UserError (database-address, usage) for a URL, a variable or a file that cannot be used
 */
export async function readDatabaseAddress(request: AddressRequest): Promise<DatabaseAddress> {
  const { variables, schema = DEFAULT_DATABASE_SCHEMA } = request
  refuseShownPassword(request)
  const url = readDatabaseUrl(request.url)
  refuseUnknown(url, variables)
  checkSchemaName(schema)
  const parameter = (name: ParameterName): string | undefined =>
    url.parameters.get(name) ?? (variables[VARIABLES[name]] || undefined)
  const target = parameter('target_session_attrs') ?? 'any'
  if (!WRITABLE_TARGETS.includes(target))
    throw addressError(
      `target_session_attrs is ${target}, but ironstage writes its database`,
      'leave it out, or say read-write',
    )
  const home = variables['HOME'] ?? userInfo().homedir
  const user = parameter('user') ?? userInfo().username
  const database = parameter('dbname') ?? user
  const passwordFile = parameter('passfile') ?? join(home, '.pgpass')
  const own = (await filedPassword(request.passwordFile, url)) ?? parameter('password')
  const tls = await databaseTls({
    mode: parameter('sslmode') ?? 'prefer',
    rootFile: parameter('sslrootcert'),
    certificateFile: parameter('sslcert'),
    keyFile: parameter('sslkey'),
    home,
  })
  const base: ClientConfig = {
    user,
    database,
    application_name: parameter('application_name') ?? 'ironstage',
    connectionTimeoutMillis: connectTimeout(parameter('connect_timeout')),
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEPALIVE_DELAY,
    client_encoding: 'UTF8',
    options: parameter('options'),
  }
  const connections: DatabaseHost[] = []
  for (const { host, port } of hostsOf(parameter('host'), parameter('port'))) {
    const isSocket = host.startsWith('/')
    const password =
      own ?? (await passwordInFile(passwordFile, { host: isSocket ? 'localhost' : host, port, database, user }))
    const choices: readonly TlsChoice[] = isSocket ? [false] : tls
    for (const [index, ssl] of choices.entries())
      connections.push({
        config: { ...base, host, port, ssl, password: passwordOr(password) },
        shown: isSocket ? `${host}/.s.PGSQL.${port}` : hostAndPort(host, port),
        hasAlternative: index < choices.length - 1,
      })
  }
  return {
    connections,
    schema,
    shown: `${database} at ${[...new Set(connections.map(({ shown }) => shown))].join(', ')}`,
  }
}

/** Variable of `--database`, where a password is as hidden as in `PGPASSWORD`. */
const URL_VARIABLE = 'IRONSTAGE_DATABASE'

function refuseShownPassword({ url, variables }: AddressRequest): void {
  if (!hasPassword(url) || url === variables[URL_VARIABLE]) return
  throw addressError(
    'the URL of --database has a password, which every user of this host could read in the list of processes',
    `take it out, and name a file with it: --database-password-file FILE; or set PGPASSWORD or ${URL_VARIABLE}`,
  )
}

/** @throws UserError (database-address, usage) for a file without one line that is a password */
async function filedPassword(file: string | undefined, { parameters }: DatabaseUrl): Promise<string | undefined> {
  if (file === undefined) return undefined
  if (parameters.has('password'))
    throw addressError(
      'the URL of the database and --database-password-file both have a password',
      'leave one of them out',
    )
  const text = await readFile(file, 'utf8').catch((cause: unknown) => {
    throw addressError(`the file of --database-password-file cannot be read: ${file}`, 'correct its name', cause)
  })
  const password = text.replace(/\r?\n$/, '')
  if (password !== '' && !/[\r\n\0]/.test(password)) return password
  throw addressError(`${file} has no password: one line that is not empty`, 'write the password into it, and no more')
}

/** A function, which no listing of the settings shows, and in whose place `pg` looks for none by itself. */
const passwordOr =
  (password: string | undefined): (() => string) =>
  () => {
    if (password === undefined) throw new PasswordMissing()
    return password
  }

/** Thrown where a server asks for a password, and nothing has one. */
export class PasswordMissing extends Error {
  override name = 'PasswordMissing'
  constructor() {
    super('the server asks for a password')
  }
}

const hostAndPort = (host: string, port: number): string =>
  host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`

/** One port stands for all hosts. */
function hostsOf(hosts: string | undefined, ports: string | undefined): { host: string; port: number }[] {
  const names = hosts === undefined ? DEFAULT_HOSTS : hosts.split(',').map((name) => name || 'localhost')
  const numbers = (ports ?? '').split(',')
  if (numbers.length !== 1 && numbers.length !== names.length)
    throw addressError(
      `the database has ${names.length} hosts and ${numbers.length} ports`,
      'name one port for all hosts, or one for each',
    )
  return names.map((host, index) => ({ host, port: portNumber(numbers[numbers.length === 1 ? 0 : index] ?? '') }))
}

function portNumber(text: string): number {
  if (text === '') return DEFAULT_PORT
  const port = /^[0-9]{1,5}$/.test(text) ? Number(text) : 0
  if (port >= 1 && port <= 65535) return port
  throw addressError(`the port of the database is ${JSON.stringify(text)}`, 'name a port from 1 to 65535')
}

function connectTimeout(seconds: string | undefined): number {
  if (seconds === undefined) return CONNECT_TIMEOUT
  if (!/^[0-9]{1,5}$/.test(seconds))
    throw addressError(`connect_timeout of the database is ${JSON.stringify(seconds)}`, 'name whole seconds, as in 10')
  return Number(seconds) === 0 ? CONNECT_TIMEOUT : Number(seconds) * 1000
}

/** @throws UserError for a name that PostgreSQL would shorten, or keeps for itself */
function checkSchemaName(schema: string): void {
  const isOwn = !schema.startsWith('pg_') && schema !== 'information_schema'
  if (schema !== '' && isOwn && !schema.includes('\0') && Buffer.byteLength(schema) <= MAX_NAME_BYTES) return
  throw addressError(
    `--database-schema ${JSON.stringify(schema)} cannot be the name of a schema`,
    `name one of at most ${MAX_NAME_BYTES} bytes that does not begin with pg_`,
  )
}

function refuseUnknown({ parameters }: DatabaseUrl, variables: AddressRequest['variables']): void {
  for (const name of parameters.keys())
    if (!Object.hasOwn(VARIABLES, name))
      throw addressError(
        `the URL of the database has the parameter ${JSON.stringify(name)}, which ironstage does not know`,
        `leave it out; known are ${Object.keys(VARIABLES).join(', ')}`,
      )
  for (const name of ['PGSERVICE', 'PGHOSTADDR'])
    if (variables[name])
      throw addressError(
        `the environment has ${name}, which ironstage does not read`,
        'unset it, and name the host in the URL',
      )
}
