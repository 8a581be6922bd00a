import type { RecordChanges } from './changed-rows.js'
import {
  inOrder,
  nodeUpdate,
  rowStatements,
  sameKeys,
  statement,
  type ChangedKeys,
  type NodeUpdate,
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
  const alone = updatesAlone(changes, noted)
  if (alone) return [alone]
  return [BEGIN, ...rowStatements(changes, versions), { ...NOTE_CHANGE, values: noted }, COMMIT]
}

const BEGIN = { text: 'begin' }
const COMMIT = { text: 'commit' }

/** New versions of nodes, entries of their history, and the note of them; undefined where something else changes too. */
function updatesAlone(
  { nodes, ports, resources, lists, inventories, history }: RecordChanges,
  noted: readonly unknown[],
): Statement | undefined {
  if (ports.size + resources.size + lists.size + inventories.size > 0) return undefined
  const updates: NodeUpdate[] = []
  for (const [uuid, { before, after }] of inOrder(nodes)) {
    if (!before || !after || before.entry.columns.id !== after.entry.columns.id || !sameKeys(before, after))
      return undefined
    updates.push(nodeUpdate(uuid, before, after))
  }
  const [first] = updates
  if (!first) return undefined
  const ofNodes = updates.length === 1 ? first : first.map((_, column) => updates.map((values) => values[column]))
  const { plain, withHistory } = updates.length === 1 ? UPDATE_ONE : UPDATE_SEVERAL
  if (history.length === 0) return { ...plain, values: [...noted, ...ofNodes] }
  const ofHistory = [history.map(({ node }) => node), history.map(({ text }) => text)]
  return { ...withHistory, values: [...noted, ...ofNodes, ...ofHistory] }
}

/** The number of a commit in its stream and its keys in the log, for the values 1 to 5 of a statement. */
const NOTED = `step as (update streams set seq = $2, used = now() where stream = $1 and seq = $2 - 1 returning 1),
  noted as (insert into changes (stream, seq, keys) select $1, $2, $3 from step returning 1)`

/** The number of a commit in its stream, its keys in the log, and a word to the other processes. */
const NOTE_CHANGE = statement('note-change', `with ${NOTED} select 1 / count(*), pg_notify($4, $5) from noted`)

/** A change of nodes alone, with a count of the rows that it must change. */
interface NodesUpdate {
  readonly update: string
  readonly count: string
}

const ONE_NODE: NodesUpdate = {
  update: `update nodes set provision_state = $8, revision = $9, record = $10, work = $11
    where uuid = $6 and revision = $7 and id = $12`,
  count: '1',
}

const SEVERAL_NODES: NodesUpdate = {
  update: `update nodes set provision_state = state, revision = new.revision, record = new.record, work = new.work
    from unnest($6::text[], $7::bigint[], $8::text[], $9::bigint[], $10::text[], $11::text[], $12::bigint[])
      as new (uuid, was, state, revision, record, work, id)
    where nodes.uuid = new.uuid and nodes.revision = was and nodes.id = new.id`,
  count: 'cardinality($6)',
}

const WITH_HISTORY = `written as (
  insert into history (node, record) select node, record from unnest($13::text[], $14::text[]) as new (node, record)
),`

/** All of a commit that changes nodes alone, as one statement, which fails where a row is another by now. */
const updateNodes = (name: string, { update, count }: NodesUpdate, history = '') =>
  statement(
    name,
    `with updated as (${update} returning 1), ${history} ${NOTED}
    select 1 / (case (select count(*) from updated) when ${count} then count(*) else 0 end), pg_notify($4, $5) from noted`,
  )

const UPDATE_ONE = {
  plain: updateNodes('update-one', ONE_NODE),
  withHistory: updateNodes('update-one-history', ONE_NODE, WITH_HISTORY),
}

const UPDATE_SEVERAL = {
  plain: updateNodes('update-several', SEVERAL_NODES),
  withHistory: updateNodes('update-several-history', SEVERAL_NODES, WITH_HISTORY),
}

const changedKeys = (changes: RecordChanges): ChangedKeys => ({
  nodes: [...changes.nodes.keys()],
  ports: [...changes.ports.keys()],
  resources: [...changes.resources.values()].map(({ kind, uuid }) => [kind, uuid]),
  lists: [...changes.lists.keys()],
})
