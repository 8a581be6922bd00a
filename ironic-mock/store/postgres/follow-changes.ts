import type { QueryResult } from 'pg'
import {
  joinKeys,
  CHANGED,
  NODE_COLUMNS,
  type ListRow,
  type NodeRow,
  type PortRow,
  type ResourceRow,
} from './read-rows.js'
import type { StreamPositions } from './load-records.js'
import type { PostgresSession } from './postgres-session.js'
import type { ChangedKeys } from './row-statements.js'
import type { FetchedRows } from './shared-records.js'

/** A change of another stream, as {@link NEW_CHANGES} selects it. */
interface ChangeRow {
  stream: number
  /** Number of the stream's last change. */
  last: string
  /** Null where the change is not in the log any more. */
  seq: string | null
  keys: string | null
}

/** A node of the changes, in the same answer. */
type ChangedNodeRow = NodeRow & { stream: null }

/**
 * Changes after the given places of the streams, and the nodes that they have changed. A stream that has gone on gives at
 * least one row, also when its log was cut. `offset 0` has the log read by key from each place on: joined, it would be
 * read whole.
 */
const NEW_CHANGES = {
  name: 'new-changes',
  text: `with new as materialized (
      select s.stream, s.seq as last, c.seq, c.keys from streams s
        left join unnest($1::integer[], $2::bigint[]) as known (stream, seq) on known.stream = s.stream
        left join lateral (
          select seq, keys from changes where stream = s.stream and seq > coalesce(known.seq, 0) offset 0
        ) as c on true
        where s.stream <> $3 and s.seq > coalesce(known.seq, 0)
        order by s.stream, c.seq
    ), changed as (
      select distinct uuid from new cross join lateral json_array_elements_text(keys::json -> 'nodes') as uuid
    )
    select stream, last, seq, keys, ${NODE_COLUMNS.map((name) => `null as ${name}`).join(', ')} from new
    union all
    select null, null, null, null, ${NODE_COLUMNS.map((name) => `nodes.${name}`).join(', ')}
      from changed join nodes using (uuid)`,
}

/** The rows of all that other processes have changed since some places of their streams. */
interface Followed {
  readonly keys: ChangedKeys
  readonly rows: FetchedRows
}

/** Outcome of a look at the other streams. */
export interface FollowOutcome {
  readonly failed: (error: Error) => void
  /** The log does not go back to the place that is known: all has to be read again. */
  readonly gap: () => void
  /** Called in the turn of the database's answer, so in the order of own commits; null: nothing has changed. */
  readonly followed: (changes: Followed | null) => void
}

/** Asks for what the other streams have had since the positions, and moves these. */
export function followChanges(session: PostgresSession, positions: StreamPositions, outcome: FollowOutcome): void {
  // Another look may move the positions before the answer to this one comes.
  const known: StreamPositions = new Map(positions)
  const values = [[...known.keys()], [...known.values()], session.stream]
  session.send({ ...NEW_CHANGES, values }, (error, result) => {
    if (error) return outcome.failed(error)
    const answer = (result as QueryResult<ChangeRow | ChangedNodeRow>).rows
    if (answer.length === 0) return outcome.followed(null)
    const rows = answer.filter((row): row is ChangeRow => row.stream !== null)
    const last = lastOfStreams(rows, known)
    if (!last) return outcome.gap()
    const keys = joinKeys(rows.map(({ keys: text }) => JSON.parse(text!) as ChangedKeys))
    const fetched = (found: FetchedRows): void => {
      for (const [stream, seq] of last) positions.set(stream, Math.max(positions.get(stream) ?? 0, seq))
      outcome.followed({ keys, rows: found })
    }
    // Other records are read together with the nodes once more, so that all of them are of one moment.
    if (keys.ports.length + keys.resources.length + keys.lists.length > 0)
      return fetchRows(session, keys, outcome.failed, fetched)
    const nodes = answer.filter((row): row is ChangedNodeRow => row.stream === null)
    fetched({ nodes, ports: [], resources: [], lists: [] })
  })
}

/** The last change of each stream; undefined when one is missing between that and the known place. */
function lastOfStreams(rows: readonly ChangeRow[], positions: StreamPositions): StreamPositions | undefined {
  const expected = new Map<number, number>()
  for (const { stream, seq } of rows) {
    const next = (expected.get(stream) ?? positions.get(stream) ?? 0) + 1
    if (seq === null || Number(seq) !== next) return undefined
    expected.set(stream, next)
  }
  return expected
}

function fetchRows(
  session: PostgresSession,
  keys: ChangedKeys,
  failed: (error: Error) => void,
  fetched: (rows: FetchedRows) => void,
): void {
  const nodes: NodeRow[] = []
  const ports: PortRow[] = []
  const resources: ResourceRow[] = []
  const lists: ListRow[] = []
  const asked = [
    { statement: CHANGED.nodes, values: [keys.nodes], into: nodes },
    { statement: CHANGED.ports, values: [keys.ports], into: ports },
    {
      statement: CHANGED.resources,
      values: [keys.resources.map(([kind]) => kind), keys.resources.map(([, uuid]) => uuid)],
      into: resources,
    },
    { statement: CHANGED.lists, values: [keys.lists], into: lists },
  ].filter(({ values }) => values[0]!.length > 0)
  if (asked.length === 0) return fetched({ nodes, ports, resources, lists })
  let failure: Error | null = null
  for (const [place, { statement, values, into }] of asked.entries()) {
    session.send({ ...statement, values }, (error, result) => {
      failure ??= error
      if (result) for (const row of result.rows) (into as unknown[]).push(row)
      if (place < asked.length - 1) return
      if (failure) failed(failure)
      else fetched({ nodes, ports, resources, lists })
    })
  }
}
