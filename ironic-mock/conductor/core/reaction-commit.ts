import { defined, randomUuid, type Clock, type Random } from '../../../base/runtime/index.js'
import type { NodeRecord, PortRecord } from '../../../base/wire/index.js'
import type { StoreView } from '../../store/open-store.js'
import type { Commit, HistoryEntry, StoredEffect } from '../../store/store.js'
import { newPort } from '../records/new-records.js'
import { formatTimestamp } from './timestamps.js'
import type { Reaction } from './node-task.js'

/** Marks a heartbeat that waits for the end of the reservation; stored among the deadlines, though it is none. */
export const WAITING_HEARTBEAT = 'heartbeat'

interface ReactionCommitParts {
  store: Pick<StoreView, 'records'>
  clock: Clock
  random: Random
}

/**
 * Turns a reaction into one commit; undefined when nothing changes.
 *
 * @param host the conductor that the history names
 * @param done the effect whose outcome was the event
 */
export function commitOf(
  { store, clock, random }: ReactionCommitParts,
  host: string,
  { record: node, revision }: { readonly record: Readonly<NodeRecord>; readonly revision: number },
  reaction: Reaction,
  done: StoredEffect | undefined,
): Commit | undefined {
  const { patch, job, dropJobs, createPorts, updatePorts, removePorts, inventory, history, lists } = reaction
  const known = store.records.deadlines.get(node.uuid)
  const deadlines = reaction.deadlines.filter(({ kind, at }) => (known?.get(kind) ?? null) !== at)
  const { heartbeatWaits } = reaction
  if (heartbeatWaits !== null && heartbeatWaits !== (known?.has(WAITING_HEARTBEAT) ?? false))
    deadlines.push({ kind: WAITING_HEARTBEAT, at: heartbeatWaits ? clock.now() : null })
  const changes = [deadlines, createPorts, updatePorts, removePorts, history, Object.keys(patch), Object.keys(lists)]
  if (!job && !dropJobs && !done && !inventory && changes.every((list) => list.length === 0)) return undefined
  const at = formatTimestamp(clock.now())
  return {
    node: node.uuid,
    expect: revision,
    patch,
    deadlines,
    effects: job ? [{ kind: job.effect.kind, payload: { ...job } }] : [],
    ...defined({ done: done ? done.id : undefined, dropEffects: dropJobs ? true : undefined }),
    createPorts: createPorts.map((port): PortRecord => {
      const wanted = { node_uuid: node.uuid, ...port }
      return { ...newPort(wanted, node.id, at, randomUuid(random)), id: 0 }
    }),
    updatePorts,
    ...defined({
      removePorts: removePorts.length > 0 ? removePorts : undefined,
      inventory: inventory ?? undefined,
      lists: Object.keys(lists).length > 0 ? lists : undefined,
    }),
    history: history.map((note): HistoryEntry => ({
      uuid: randomUuid(random),
      created_at: at,
      conductor: host,
      ...note,
    })),
  }
}
