import type { QueryResultRow } from 'pg'
import type { DatabaseSession } from './database-session.js'
import { ALL_LISTS, PAGES, type ListRow, type NodeRow, type PortRow, type ResourceRow } from './read-rows.js'
import { SharedRecords } from './shared-records.js'

/** Rows that are read at once: few enough that a page takes little memory. */
const PAGE = 4000

/** A connection whose statements can be part of a transaction that only reads. */
export type LoadingConnection = Pick<DatabaseSession, 'query'>

/** Place in each stream of changes, up to which changes are known. */
export type StreamPositions = Map<number, number>

/**
 * Reads the whole database as it is at one moment. No other statement over the connection can write meanwhile.
 *
 * @throws the driver's error
 */
export async function loadRecords(
  session: LoadingConnection,
): Promise<{ shared: SharedRecords; positions: StreamPositions }> {
  const shared = new SharedRecords()
  await session.query('begin isolation level repeatable read read only')
  try {
    const { rows } = await session.query<{ stream: number; seq: string }>('select stream, seq from streams')
    await eachPage<NodeRow>(session, PAGES.nodes, (page) => shared.putNodes(page))
    await eachPage<PortRow>(session, PAGES.ports, (page) => shared.putPorts(page))
    await eachPage<ResourceRow>(session, PAGES.resources, (page) => shared.putResources(page))
    const lists = await session.query<ListRow>(ALL_LISTS)
    shared.putLists(lists.rows)
    return { shared, positions: new Map(rows.map(({ stream, seq }) => [stream, Number(seq)])) }
  } finally {
    await session.query('commit').catch(() => {})
  }
}

/** Asks for the next page before it works on one. */
async function eachPage<Row extends QueryResultRow & { id: string }>(
  session: LoadingConnection,
  text: string,
  work: (page: readonly Row[]) => void,
): Promise<void> {
  const ask = (after: string) => session.query<Row>(text, [after, PAGE])
  let asked = ask('-1')
  for (;;) {
    const { rows } = await asked
    const isLast = rows.length < PAGE
    if (!isLast) asked = ask(rows.at(-1)!.id)
    work(rows)
    if (isLast) return
  }
}
