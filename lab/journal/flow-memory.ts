import { beginsFlow, isFailure, isHeartbeatEntry, type NewEntry, type NewExchange } from '../../control/index.js'

interface NotedEntry {
  readonly noted: NewEntry | NewExchange
}

/** Entries of a node that are remembered: a flow has a few states, steps and failures. */
const MAX_FLOW_ENTRIES = 64
/** Failures of one kind: the last ones are the nearest to the error. */
const MAX_KIND_FAILURES = 4

/**
 * Remembers, of what a journal drops, the entries that explain the present state of each node: of its flow the states and
 * steps, the first strike of each fault, the last heartbeat that was taken and the first one after it that was not, and the
 * last failures. A silent agent's retries would push all of that out of the journal within hours.
 */
export class FlowMemory<Entry extends NotedEntry> {
  readonly #nodes = new Map<string, Entry[]>()

  /** Remembered entries of a node, the oldest first. */
  of(node: string): readonly Entry[] {
    return this.#nodes.get(node) ?? []
  }

  dropped(entry: Entry): void {
    const { noted } = entry
    if (noted.node === null) return
    if (noted.kind === 'state') {
      if (noted.state === 'deleted') return void this.#nodes.delete(noted.node)
      if (beginsFlow(noted)) this.#nodes.delete(noted.node)
    }
    const known = this.#nodes.get(noted.node) ?? []
    const left = leftBeside(noted, known)
    if (!left) return
    left.push(entry)
    if (left.length > MAX_FLOW_ENTRIES) {
      const first = left.findIndex((each) => each.noted.kind !== 'state')
      left.splice(Math.max(0, first), 1)
    }
    this.#nodes.set(noted.node, left)
  }
}

/** The entries that stay beside a new one; undefined when it adds nothing to them. */
function leftBeside<Entry extends NotedEntry>(noted: Entry['noted'], known: readonly Entry[]): Entry[] | undefined {
  switch (noted.kind) {
    case 'state':
      return [...known]
    case 'step':
      return noted.what === 'percent' ? undefined : [...known]
    case 'fault': {
      const isKnown = known.some((each) => each.noted.kind === 'fault' && each.noted.fault === noted.fault)
      return noted.what !== 'struck' || isKnown ? undefined : [...known]
    }
    case 'lab':
      return undefined
    case 'exchange':
      if (isHeartbeatEntry(noted)) return besideHeartbeat(noted, known)
      return noted.to === 'images' ? besideFailure(noted, known) : undefined
    case 'bmc':
    case 'boot':
    case 'command':
    case 'power':
    case 'pull':
      return besideFailure(noted, known)
  }
}

function besideFailure<Entry extends NotedEntry>(noted: Entry['noted'], known: readonly Entry[]): Entry[] | undefined {
  if (!isFailure(noted)) return undefined
  const alike = known.filter((each) => each.noted.kind === noted.kind && isFailure(each.noted))
  return alike.length < MAX_KIND_FAILURES ? [...known] : known.filter((each) => each !== alike[0])
}

function besideHeartbeat<Entry extends NotedEntry>(beat: NewExchange, known: readonly Entry[]): Entry[] | undefined {
  const beats = known.filter(({ noted }) => noted.kind === 'exchange' && isHeartbeatEntry(noted))
  // A heartbeat that is taken ends the silence before it.
  if (!isFailure(beat)) return known.filter((each) => !beats.includes(each))
  return beats.some(({ noted }) => isFailure(noted)) ? undefined : [...known]
}
