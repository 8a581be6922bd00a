import type { Client } from 'pg'
import { UserError } from '../../../base/runtime/index.js'

/** Rounds, in each of which a pool may give the same connection back by chance. */
const ROUNDS = 4
/** Milliseconds that a query waits for a connection of the pool while another client has one in a transaction. */
const POOL_WAIT = 3000

/**
 * Refuses a pool between this process and the server that keeps a connection for a client only for a transaction, or a
 * statement: locks and LISTEN belong to a session. A pool has process ids of its own for its clients, so that one is noticed
 * at once; a pool of sessions will do. What is set for that is a name of ironstage's own, which nothing else reads.
 *
 * @param openOther another client of the same pool
 * @throws UserError database-unfit
 */
export async function refuseTransactionPool(
  client: Client,
  shown: string,
  openOther: () => Promise<Client>,
): Promise<void> {
  const other = await openOther()
  try {
    for (let round = 0; round < ROUNDS; round++) if (!(await keepsSession(client, other))) throw poolError(shown)
  } catch (cause) {
    if (cause instanceof UserError) throw cause
    throw poolError(shown, cause)
  } finally {
    await other.end().catch(() => {})
  }
}

/** Another query goes to the next connection of a pool that takes turns; otherwise the other client takes this one's. */
async function keepsSession(client: Client, other: Client): Promise<boolean> {
  const set = "select set_config('ironstage.session', md5(random()::text || clock_timestamp()::text), false) as token"
  const { rows } = await client.query<{ token: string }>(set)
  const { token } = rows[0]!
  if ((await sessionToken(client)) !== token) return false
  await other.query('begin')
  await other.query('select 1')
  const later = await sessionToken(client)
  await other.query('rollback')
  return later === token
}

async function sessionToken(client: Client): Promise<string | null> {
  const text = "select current_setting('ironstage.session', true) as token"
  // `pg` takes a limit for one query, which its types do not know.
  const limited = { text, query_timeout: POOL_WAIT }
  const { rows } = await client.query<{ token: string | null }>(limited)
  return rows[0]!.token
}

const poolError = (shown: string, cause?: unknown): UserError =>
  new UserError(
    'database-unfit',
    `there is a pool at ${shown} that gives each transaction or statement a connection of its own, as PgBouncer does with pool_mode = transaction; locks and LISTEN of ironstage need one session`,
    { kind: 'usage', remedy: 'name the server itself, or set pool_mode = session there', cause },
  )
