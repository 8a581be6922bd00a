import type { ExchangeEntry, JournalEntry } from '../journal/entry.js'
import { entryPlace, type EntryPlace } from './entry-place.js'
import { isFailure, isHeartbeatEntry } from '../journal/journal-flow.js'

/** Something that happened to a node at one time. */
export interface TimelineMark extends EntryPlace {
  kind: 'heartbeat' | 'call' | 'download' | 'command' | 'bmc' | 'power' | 'boot' | 'pull' | 'fault' | 'lab'
  /** Lab time of its beginning. */
  at: string
  /** Milliseconds of lab time that it took. */
  duration: number
  text: string
  isBad: boolean
  /** Id of the fault that struck. */
  fault: string | null
}

/** The marks of a timeline; states and steps are spans and have none. */
export function marksOf(entries: readonly JournalEntry[]): TimelineMark[] {
  return entries.flatMap((entry): TimelineMark[] => {
    const duration = 'duration' in entry ? entry.duration : 0
    const head = {
      ...entryPlace(entry),
      duration,
      fault: entry.fault,
      at: new Date(Date.parse(entry.labTime) - duration).toISOString(),
    }
    switch (entry.kind) {
      case 'state':
      case 'step':
        return []
      case 'exchange':
        return [{ ...head, ...exchange(entry) }]
      case 'command': {
        const { argv, exitCode, error } = entry
        const isBad = isFailure(entry)
        const text = `${argv.join(' ')}${isBad ? `: ${error ?? `exit code ${exitCode}`}` : ''}`
        return [{ ...head, kind: 'command', text, isBad }]
      }
      case 'bmc': {
        const { call, error } = entry
        const text = `${call}${error === null ? '' : `: ${error}`}`
        return [{ ...head, kind: 'bmc', text, isBad: isFailure(entry) }]
      }
      case 'power':
      case 'boot':
      case 'pull': {
        const { kind, what, error } = entry
        return [{ ...head, kind, text: `${what}${error === null ? '' : `: ${error}`}`, isBad: isFailure(entry) }]
      }
      case 'fault':
        return [{ ...head, kind: 'fault', text: `${entry.effect} ${entry.what}`, isBad: isFailure(entry) }]
      case 'lab':
        return [{ ...head, kind: 'lab', text: entry.what, isBad: false }]
    }
  })
}

function exchange(entry: ExchangeEntry): Pick<TimelineMark, 'kind' | 'text' | 'isBad'> {
  const { from, to, method, target, status, error } = entry
  const isBad = isFailure(entry)
  const answer = status === null ? (error ?? 'no answer') : String(status)
  if (isHeartbeatEntry(entry)) {
    const text = isBad ? `heartbeat: ${answer}` : 'heartbeat'
    // One that comes while Ironic works on the node is sent again, as of every real agent.
    return { kind: 'heartbeat', text, isBad: isBad && (status !== 409 || entry.fault !== null) }
  }
  const text = `${from} to ${to}: ${method} ${target}: ${answer}`
  return { kind: to === 'images' ? 'download' : 'call', text, isBad }
}
