import type { RecordChanges } from './changed-rows.js'
import {
  inOrder,
  newNode,
  nodeUpdate,
  oldNode,
  rowStatements,
  sameKeys,
  statement,
  type ChangedKeys,
  type NewNode,
  type NodeUpdate,
  type OldNode,
  type RowVersions,
  type Statement,
} from './row-statements.js'

/** The place of a transaction among the commits of its process, and the channel on which the others hear of it. */
export interface CommitNote {
  readonly stream: number
  readonly seq: number
  readonly channel: string
}

/** A statement of a transaction; one without a name has no values. */
type TransactionStatement = Partial<Statement> & Pick<Statement, 'text'>

/** The statements of one transaction, the last of which commits. Changes of nodes alone are one statement. */
export function transactionOf(
  changes: RecordChanges,
  versions: RowVersions,
  { stream, seq, channel }: CommitNote,
): TransactionStatement[] {
  const noted = [stream, seq, JSON.stringify(changedKeys(changes)), channel, String(stream)]
  const alone = nodesAlone(changes, noted)
  if (alone) return [alone]
  return [BEGIN, ...rowStatements(changes, versions), { ...NOTE_CHANGE, values: noted }, COMMIT]
}

const BEGIN = { text: 'begin' }
const COMMIT = { text: 'commit' }

/** The number of a commit in its stream and its keys in the log, for the values 1 to 5 of a statement. */
const NOTED = `step as (update streams set seq = $2, used = now() where stream = $1 and seq = $2 - 1 returning 1),
  noted as (insert into changes (stream, seq, keys) select $1, $2, $3 from step returning 1)`

/** The number of a commit in its stream, its keys in the log, and a word to the other processes. */
const NOTE_CHANGE = statement('note-change', `with ${NOTED} select 1 / count(*), pg_notify($4, $5) from noted`)

/** Rows that a statement makes, changes or removes in one way. */
interface RowsPart {
  readonly name: string
  /** Types of the values of a row, by the names that `sql` gives them. */
  readonly columns: Readonly<Record<string, string>>
  /** For the rows, which are called `new`. */
  readonly sql: (rows: string) => string
}

const MADE: RowsPart = {
  name: 'made',
  columns: {
    uuid: 'text',
    id: 'bigint',
    name: 'text',
    instance_uuid: 'text',
    provision_state: 'text',
    driver: 'text',
    chassis_id: 'bigint',
    revision: 'bigint',
    record: 'text',
    work: 'text',
  },
  sql: (rows) => `insert into nodes (${Object.keys(MADE.columns).join(', ')}) select * from ${rows}`,
}

const CHANGED: RowsPart = {
  name: 'changed',
  columns: {
    uuid: 'text',
    was: 'bigint',
    state: 'text',
    revision: 'bigint',
    record: 'text',
    work: 'text',
    id: 'bigint',
  },
  sql: (rows) => `update nodes
    set provision_state = new.state, revision = new.revision, record = new.record, work = new.work from ${rows}
    where nodes.uuid = new.uuid and nodes.revision = new.was and nodes.id = new.id`,
}

const REMOVED: RowsPart = {
  name: 'removed',
  columns: { uuid: 'text', was: 'bigint', id: 'bigint' },
  sql: (rows) => `delete from nodes using ${rows}
    where nodes.uuid = new.uuid and nodes.revision = new.was and nodes.id = new.id`,
}

const WRITTEN: RowsPart = {
  name: 'written',
  columns: { node: 'text', record: 'text' },
  sql: (rows) => `insert into history (node, record) select * from ${rows}`,
}

type PartRows = readonly [part: RowsPart, rows: readonly (readonly unknown[])[]]

/** Nodes that are made, changed or removed, and entries of their history; undefined where something else changes too. */
function nodesAlone(
  { nodes, ports, resources, lists, inventories, history }: RecordChanges,
  noted: readonly unknown[],
): Statement | undefined {
  if (ports.size + resources.size + lists.size + inventories.size > 0) return undefined
  const made: NewNode[] = []
  const changed: NodeUpdate[] = []
  const removed: OldNode[] = []
  for (const [uuid, { before, after }] of inOrder(nodes)) {
    if (before && after) {
      if (before.entry.columns.id !== after.entry.columns.id || !sameKeys(before, after)) return undefined
      changed.push(nodeUpdate(uuid, before, after))
    } else if (after) made.push(newNode(uuid, after))
    else if (before) removed.push(oldNode(uuid, before))
  }
  if (made.length + changed.length + removed.length === 0) return undefined
  const parts: PartRows[] = [
    [MADE, made],
    [CHANGED, changed],
    [REMOVED, removed],
    [WRITTEN, history.map(({ node, text }) => [node, text])],
  ]
  return statementOf(
    parts.filter(([, rows]) => rows.length > 0),
    noted,
  )
}

/** Texts of statements by their names. */
const texts = new Map<string, string>()

/** One row is a list of values, of which PostgreSQL makes less work than of arrays. */
function statementOf(parts: readonly PartRows[], noted: readonly unknown[]): Statement {
  const name = `nodes ${parts.map(([part, { length }]) => `${part.name}${length === 1 ? ' 1' : ''}`).join(' ')}`
  const values = [...noted]
  for (const [{ columns }, rows] of parts)
    if (rows.length === 1) values.push(...rows[0]!)
    else values.push(...Object.keys(columns).map((_, column) => rows.map((row) => row[column])))
  let text = texts.get(name)
  if (text === undefined) {
    text = textOf(parts, noted.length)
    texts.set(name, text)
  }
  return { name, text, values }
}

/** The statement fails, by a division by zero, where one of the rows is another by now. */
function textOf(parts: readonly PartRows[], before: number): string {
  let place = before
  const counted: string[] = []
  const queries = parts.map(([{ name, columns, sql }, { length }]) => {
    const isOne = length === 1
    counted.push(`(select count(*) from ${name}) = ${isOne ? 1 : `cardinality($${place + 1})`}`)
    const values = Object.values(columns).map((type) => `$${++place}::${type}${isOne ? '' : '[]'}`)
    const rows = isOne ? `(values (${values.join(', ')}))` : `unnest(${values.join(', ')})`
    return `${name} as (${sql(`${rows} as new (${Object.keys(columns).join(', ')})`)} returning 1)`
  })
  return `with ${queries.join(', ')}, ${NOTED}
    select 1 / (case when ${counted.join(' and ')} then count(*) else 0 end), pg_notify($4, $5) from noted`
}

const changedKeys = (changes: RecordChanges): ChangedKeys => ({
  nodes: [...changes.nodes.keys()],
  ports: [...changes.ports.keys()],
  resources: [...changes.resources.values()].map(({ kind, uuid }) => [kind, uuid]),
  lists: [...changes.lists.keys()],
})
