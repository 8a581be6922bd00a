import type { Socket } from 'node:net'
import pg, { type Client, type ClientConfig } from 'pg'
import { defined, UserError } from '../../../base/runtime/index.js'
import type { DatabaseAddress, DatabaseHost } from './database-address.js'
import { connectRefusal, isAlternativeWorthwhile, isServerAway } from './database-refusals.js'
import { refuseTransactionPool } from './probe-pool.js'

export interface ConnectionOptions {
  /** Name of this process, which `pg_stat_activity` then shows. */
  readonly host?: string | undefined
  /** Milliseconds after which a statement without an answer ends the connection; without it, it is waited for. */
  readonly answerLimit?: number
}

/**
 * Opens a connection to the host of a database that takes writes, with the schema first in its search path. A peer that is
 * gone without a word is noticed by the server within three seconds.
 *
 * @throws UserError database-unreachable, database-refused or database-unfit, all of them of usage
 */
export async function connectDatabase(address: DatabaseAddress, options: ConnectionOptions = {}): Promise<Client> {
  const failures: string[] = []
  let cause: unknown
  let settled: DatabaseHost | undefined
  for (const one of address.connections) {
    if (settled?.shown === one.shown) continue
    try {
      const client = await openClient(one.config, options)
      settled = one
      if (await prepareWriter(client, one, address.schema)) return client
      failures.push(`${one.shown} is a read-only standby`)
    } catch (error) {
      if (one.hasAlternative && isAlternativeWorthwhile(error)) continue
      settled = one
      if (error instanceof UserError) throw error
      if (!isServerAway(error)) throw connectRefusal(error, address, one)
      cause = error
      failures.push(`${one.shown}: ${reasonOf(error)}`)
    }
  }
  throw noHost(address, failures, cause)
}

async function openClient(base: ClientConfig, { host, answerLimit }: ConnectionOptions = {}): Promise<Client> {
  const named =
    host === undefined || base.application_name !== 'ironstage' ? base.application_name : `ironstage ${host}`
  const config = defined({ ...base, application_name: named, pipeline: true, query_timeout: answerLimit })
  const client = new pg.Client(config)
  // An error that comes between two queries ends the next one too; unheard, it would end the process.
  client.on('error', () => {})
  try {
    await client.connect()
    return client
  } catch (error) {
    // Its socket may be open still, as after a refused password.
    await client.end().catch(() => {})
    throw error
  }
}

/** @returns false for a standby, whose connection is closed then */
async function prepareWriter(client: Client, { config, shown }: DatabaseHost, schema: string): Promise<boolean> {
  try {
    const { rows } = await client.query<ServerFacts>(SERVER_FACTS)
    const { standby, backend } = rows[0]!
    if (standby) {
      await client.end()
      return false
    }
    if (backend !== processIdOf(client)) await refuseTransactionPool(client, shown, () => openClient(config))
    await client.query(sessionSettings(client.escapeIdentifier(schema)))
    return true
  } catch (error) {
    await client.end().catch(() => {})
    throw error
  }
}

interface ServerFacts {
  standby: boolean
  backend: number
}

const SERVER_FACTS = `select
  pg_is_in_recovery() or current_setting('transaction_read_only') = 'on' as standby,
  pg_backend_pid() as backend`

/** Closes a connection at once, without waiting for what was asked over it. */
export const dropConnection = (client: Client): void => {
  // The types of `pg` have no socket.
  const { connection } = client as Client & { readonly connection: { readonly stream: Socket } }
  connection.stream.destroy()
}

/** `pg` has it from the server's first words, and its types do not. */
const processIdOf = (client: Client): number | null => (client as Client & { processID: number | null }).processID

const sessionSettings = (schema: string): string =>
  [
    'set tcp_keepalives_idle = 1',
    'set tcp_keepalives_interval = 1',
    'set tcp_keepalives_count = 2',
    `set search_path to ${schema}`,
    // All is read by key, and the planner, which has no statistics of tables that are new, would rather read them whole.
    'set enable_seqscan to off',
    'set enable_hashjoin to off',
    'set enable_mergejoin to off',
    // All plans of a statement are alike then, and PostgreSQL need not make one for each use.
    'set plan_cache_mode to force_generic_plan',
    // Records of more than 2 kB are compressed. With lz4, since PostgreSQL 14, a commit takes a quarter less of the server's time.
    `select set_config(name, 'lz4', false) from pg_settings
      where name = 'default_toast_compression' and 'lz4' = any(enumvals)`,
    // It would compile each of the small statements that read a whole table nevertheless, for milliseconds.
    'set jit to off',
  ].join('; ')

/** @param failures a sentence for each host */
function noHost({ shown }: DatabaseAddress, failures: readonly string[], cause: unknown): UserError {
  const readOnly = failures.filter((failure) => failure.endsWith('standby'))
  if (readOnly.length === failures.length)
    return new UserError('database-unfit', `the database ${shown} takes no writes: ${failures.join('; ')}`, {
      kind: 'usage',
      remedy: 'name the primary, or all hosts with a comma between them',
    })
  return new UserError('database-unreachable', `the database ${shown} does not answer: ${failures.join('; ')}`, {
    kind: 'usage',
    remedy: 'start it, or correct its host and port',
    cause,
  })
}

/** The words of one failure; Node joins those of several addresses of one name without any. */
function reasonOf(error: unknown): string {
  if (error instanceof AggregateError) return [...new Set(error.errors.map(reasonOf))].join(', ')
  return error instanceof Error ? error.message : String(error)
}
