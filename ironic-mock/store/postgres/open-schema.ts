import type { Client } from 'pg'
import { UserError } from '../../../base/runtime/index.js'
import { connectDatabase } from './connect-database.js'
import type { DatabaseAddress } from './database-address.js'
import { codeOf } from './database-refusals.js'
import { MIGRATIONS, type Migration } from './migrations.js'

/** Names of the migrations that a schema has had. */
const MIGRATION_TABLE = 'ironstage_migrations'

const OLDEST_SERVER = 12
/** Milliseconds after which a process that migrates counts as stuck. */
const MIGRATION_WAIT = 60_000

/**
 * Makes the schema as this program needs it, or leaves it as it is: one process at a time, all or nothing.
 *
 * @param host name of this process, which `pg_stat_activity` shows
 * @param migrations those of this program
 * @throws UserError (usage) that says what is in the way; nothing is changed then
 */
export async function openSchema(
  address: DatabaseAddress,
  host?: string,
  migrations: readonly Migration[] = MIGRATIONS,
): Promise<void> {
  const client = await connectDatabase(address, { host })
  try {
    await checkServer(client, address)
    await client.query(`set lock_timeout = ${MIGRATION_WAIT}`)
    await client.query('select pg_advisory_lock(hashtextextended($1, 0))', [`ironstage schema ${address.schema}`])
    await makeSchema(client, address, migrations)
  } catch (error) {
    throw error instanceof UserError ? error : schemaFailure(error, address)
  } finally {
    // The lock ends with the connection.
    await client.end().catch(() => {})
  }
}

/** @throws UserError database-unfit for one that is too old, or keeps text in another encoding */
async function checkServer(client: Client, { shown }: DatabaseAddress): Promise<void> {
  const text =
    "select current_setting('server_version_num')::int / 10000 as version, current_setting('server_encoding') as encoding"
  const { rows } = await client.query<{ version: number; encoding: string }>(text)
  const { version, encoding } = rows[0]!
  if (version < OLDEST_SERVER)
    throw unfit(`the database ${shown} is of PostgreSQL ${version}`, `use PostgreSQL ${OLDEST_SERVER} or newer`)
  if (encoding !== 'UTF8')
    throw unfit(
      `the database ${shown} keeps its text as ${encoding}, which has not all characters`,
      'create another: createdb --encoding UTF8 --template template0 NAME',
    )
}

async function makeSchema(client: Client, address: DatabaseAddress, migrations: readonly Migration[]): Promise<void> {
  const { schema } = address
  const standing = await schemaStanding(client, schema)
  checkRights(standing, address)
  const done = standing.tables.includes(MIGRATION_TABLE) ? await migrationsOf(client, schema) : []
  checkTables(standing, done, address, migrations)
  if (done.length === migrations.length) return
  await migrate(client, standing, schema, migrations.slice(done.length))
}

/** A schema as it is found. */
interface SchemaStanding {
  readonly database: string
  readonly user: string
  readonly exists: boolean
  /** True if this user may make the schema, or tables in it when it is there. */
  readonly mayCreate: boolean
  /** Tables, views and sequences in it. */
  readonly tables: readonly string[]
  /** Roles that own some of these, and which this user is no member of. */
  readonly strangers: readonly string[]
}

const STANDING = `
with relations as (
  select c.relname::text as name, c.relowner as owner from pg_class c join pg_namespace n on n.oid = c.relnamespace
  where n.nspname = $1 and c.relkind in ('r', 'p', 'v', 'm', 'S', 'f')
)
select
  current_database() as database,
  current_user as user,
  found.oid is not null as exists,
  case when found.oid is null then has_database_privilege(current_database(), 'CREATE')
    else has_schema_privilege(found.oid, 'CREATE') and has_schema_privilege(found.oid, 'USAGE') end as "mayCreate",
  array(select name from relations order by name) as tables,
  array(select distinct pg_get_userbyid(owner)::text from relations where not pg_has_role(owner, 'USAGE')) as strangers
from (select (select oid from pg_namespace where nspname = $1) as oid) as found`

async function schemaStanding(client: Client, schema: string): Promise<SchemaStanding> {
  const { rows } = await client.query<SchemaStanding>(STANDING, [schema])
  return rows[0]!
}

function checkRights({ exists, mayCreate, database, user, strangers }: SchemaStanding, address: DatabaseAddress): void {
  const { shown, schema } = address
  const [stranger] = strangers
  if (!mayCreate)
    throw refused(
      exists
        ? `user ${user} may not make tables in the schema ${schema} of the database ${shown}`
        : `user ${user} may not make the schema ${schema} in the database ${shown}`,
      exists
        ? `as its owner run: GRANT USAGE, CREATE ON SCHEMA ${quotedName(schema)} TO ${quotedName(user)};`
        : `as its owner run: GRANT CREATE ON DATABASE ${quotedName(database)} TO ${quotedName(user)};`,
    )
  if (stranger !== undefined)
    throw refused(
      `tables in the schema ${schema} of the database ${shown} belong to user ${stranger}`,
      `connect as that user, or as a superuser run: GRANT ${quotedName(stranger)} TO ${quotedName(user)};`,
    )
}

async function migrationsOf(client: Client, schema: string): Promise<string[]> {
  const table = `${client.escapeIdentifier(schema)}.${MIGRATION_TABLE}`
  const { rows } = await client.query<{ name: string }>(`select name from ${table} order by name`)
  return rows.map(({ name }) => name)
}

/** @param done names of the migrations that the schema has had */
function checkTables(
  { tables }: SchemaStanding,
  done: readonly string[],
  { shown, schema }: DatabaseAddress,
  migrations: readonly Migration[],
): void {
  const own = tables.includes(MIGRATION_TABLE)
  const other = tables.filter((name) => name !== MIGRATION_TABLE)
  if (!own && other.length > 0)
    throw wrongSchema(
      `the schema ${schema} of the database ${shown} has tables of something else: ${someOf(other)}`,
      'name a schema of its own: --database-schema NAME',
    )
  const names = migrations.map(({ name }) => name)
  const newer = done.find((name) => !names.includes(name))
  if (newer !== undefined)
    throw wrongSchema(
      `the schema ${schema} of the database ${shown} is of a newer ironstage: this one does not know ${JSON.stringify(newer)}`,
      'use the newer version, or name another schema with --database-schema',
    )
  if (done.some((name, index) => names[index] !== name))
    throw wrongSchema(
      `the schema ${schema} of the database ${shown} lacks a step before ${JSON.stringify(done.at(-1))}`,
      'name another schema with --database-schema',
    )
}

const MAX_SHOWN_TABLES = 3

const someOf = (names: readonly string[]): string =>
  names.length <= MAX_SHOWN_TABLES ? names.join(', ') : `${names.slice(0, MAX_SHOWN_TABLES).join(', ')} and others`

/** All in one transaction, with a row that names each step; the caller holds the lock of the schema. */
async function migrate(
  client: Client,
  { exists }: SchemaStanding,
  schema: string,
  steps: readonly Migration[],
): Promise<void> {
  const quoted = client.escapeIdentifier(schema)
  const table = `${quoted}.${MIGRATION_TABLE}`
  await client.query('begin')
  try {
    // PostgreSQL asks for the right to make schemas even where `if not exists` finds one.
    if (!exists) await client.query(`create schema ${quoted}`)
    await client.query(
      `create table if not exists ${table} (name text primary key, made_at timestamptz not null default now())`,
    )
    for (const { name, sql } of steps) {
      await client.query(sql)
      await client.query(`insert into ${table} (name) values ($1)`, [name])
    }
    await client.query('commit')
  } catch (error) {
    await client.query('rollback').catch(() => {})
    throw error
  }
}

const LOCK_NOT_AVAILABLE = '55P03'
const NO_RIGHT = '42501'

function schemaFailure(error: unknown, { shown, schema }: DatabaseAddress): UserError {
  const serverMessage = error instanceof Error ? error.message : String(error)
  if (codeOf(error) === LOCK_NOT_AVAILABLE)
    return wrongSchema(
      `another process has been making the schema ${schema} of the database ${shown} for a minute`,
      'wait for it, or end it',
      error,
    )
  if (codeOf(error) === NO_RIGHT)
    return refused(
      `the database ${shown} refuses to make the schema ${schema}: ${serverMessage}`,
      'grant what it names',
      error,
    )
  return new UserError(
    'database-unreachable',
    `the database ${shown} was lost while its schema was made: ${serverMessage}`,
    {
      kind: 'usage',
      remedy: 'look into its log, and start again',
      cause: error,
    },
  )
}

const quotedName = (name: string): string => `"${name.replaceAll('"', '""')}"`

const unfit = (message: string, remedy: string): UserError =>
  new UserError('database-unfit', message, { kind: 'usage', remedy })

const refused = (message: string, remedy: string, cause?: unknown): UserError =>
  new UserError('database-refused', message, { kind: 'usage', remedy, cause })

const wrongSchema = (message: string, remedy: string, cause?: unknown): UserError =>
  new UserError('database-schema', message, { kind: 'usage', remedy, cause })
