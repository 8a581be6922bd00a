import type { Records } from '../../store/record-store.js'
import { WAITING_HEARTBEAT } from './reaction-commit.js'

/** A time limit that a node is under. */
export interface NodeDeadline {
  /** `deploy callback`, `clean callback` ... */
  kind: string
  /** Milliseconds since the epoch. */
  at: number
}

/** The time limits of a node, the earliest first. */
export const deadlinesOf = (records: Records, node: string): NodeDeadline[] =>
  [...(records.deadlines.get(node) ?? [])]
    .filter(([kind]) => kind !== WAITING_HEARTBEAT)
    .map(([kind, at]) => ({ kind, at }))
    .sort((a, b) => a.at - b.at)
