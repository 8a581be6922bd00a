import type { PointKind } from '../points.js'
import type { FaultMatch } from '../../control/index.js'

/** A fault that can strike. */
export interface Indexed {
  /** Position among the faults. */
  readonly order: number
  /** Kinds of probe points at which it can strike. */
  readonly kinds: readonly PointKind[]
  readonly fault: { readonly match: FaultMatch }
}

/** Names of the machine and the nodes that a point concerns; no nodes where any may be. */
export interface Concerned {
  readonly machine: string | undefined
  /** Uuids and names. */
  readonly nodes: readonly string[] | undefined
  /** Where any may be: whether one is meant by a uuid or name. */
  readonly isNode?: (ident: string) => boolean
}

interface FaultSets<Entry> {
  readonly ofMachine: Map<string, Set<Entry>>
  readonly ofNode: Map<string, Set<Entry>>
  readonly others: Set<Entry>
}

/** Faults by the kinds of points at which they strike, and by the machine or node that they name. */
export class FaultIndex<Entry extends Indexed> {
  readonly #kinds = new Map<PointKind, FaultSets<Entry>>()

  /** Kinds of points at which a fault can strike. */
  get kinds(): readonly PointKind[] {
    return [...this.#kinds.keys()]
  }

  /** @returns whether there was no fault of one of its kinds before */
  add(entry: Entry): boolean {
    const before = this.#kinds.size
    for (const kind of entry.kinds) {
      let faults = this.#kinds.get(kind)
      if (!faults) this.#kinds.set(kind, (faults = { ofMachine: new Map(), ofNode: new Map(), others: new Set() }))
      setOf(faults, entry).add(entry)
    }
    return this.#kinds.size !== before
  }

  /** @returns whether it was the last fault of one of its kinds */
  remove(entry: Entry): boolean {
    const before = this.#kinds.size
    const { machine, node } = entry.fault.match
    for (const kind of entry.kinds) {
      const faults = this.#kinds.get(kind)
      if (!faults) continue
      const entries = setOf(faults, entry)
      entries.delete(entry)
      if (entries.size > 0) continue
      if (machine !== undefined) faults.ofMachine.delete(machine)
      else if (node !== undefined) faults.ofNode.delete(node)
      if (faults.others.size + faults.ofMachine.size + faults.ofNode.size === 0) this.#kinds.delete(kind)
    }
    return this.#kinds.size !== before
  }

  clear(): void {
    this.#kinds.clear()
  }

  /** The faults that can strike at a point of a kind, in their order. */
  at(kind: PointKind, { machine, nodes, isNode }: Concerned): Entry[] {
    const faults = this.#kinds.get(kind)
    if (!faults) return []
    const found = [...faults.others]
    const alone = found.length
    if (machine !== undefined) found.push(...(faults.ofMachine.get(machine) ?? []))
    if (faults.ofNode.size > 0)
      for (const name of nodes ?? faults.ofNode.keys())
        if (!isNode || isNode(name)) found.push(...(faults.ofNode.get(name) ?? []))
    return found.length === alone ? found : found.sort((a, b) => a.order - b.order)
  }
}

function setOf<Entry extends Indexed>(faults: FaultSets<Entry>, { fault: { match } }: Entry): Set<Entry> {
  if (match.machine === undefined && match.node === undefined) return faults.others
  const [sets, name] = match.machine !== undefined ? [faults.ofMachine, match.machine] : [faults.ofNode, match.node!]
  const known = sets.get(name) ?? new Set<Entry>()
  sets.set(name, known)
  return known
}
