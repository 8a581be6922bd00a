import type { JournalEntry, MachineReport, NodeReport } from '../../../control/index.js'
import { lookOf, type Look } from './looks.js'

/** A machine as the fleet shows it: a node, or a machine whose Ironic is elsewhere. */
export interface FleetRow {
  /** uuid of a node, id of a machine. */
  readonly id: string
  readonly name: string
  readonly isNode: boolean
  readonly machine: string | null
  readonly state: string
  readonly look: Look
  readonly power: string | null
  readonly target: string | null
  /** Lab time in milliseconds. */
  readonly since: number | null
  readonly step: string | null
  readonly error: string | null
  readonly waitsFor: string | null
  readonly isInMaintenance: boolean
}

export const rowOfNode = (node: NodeReport): FleetRow => ({
  id: node.uuid,
  name: node.name ?? node.uuid,
  isNode: true,
  machine: node.machine,
  state: node.provision_state,
  look: lookOf(node.provision_state),
  power: node.power_state,
  target: node.target,
  since: parseRowTime(node.since),
  step: node.step,
  error: node.last_error,
  waitsFor: node.waitsFor,
  isInMaintenance: node.maintenance,
})

export const rowOfMachine = ({ id, power, boot, waitsFor = null }: MachineReport): FleetRow => ({
  id,
  name: id,
  isNode: false,
  machine: id,
  state: power,
  look: lookOf(power),
  power: `power ${power}`,
  target: null,
  since: null,
  step: boot ? `boot: ${boot.outcome}` : null,
  error: boot?.failure ?? null,
  waitsFor,
  isInMaintenance: false,
})

/** When a state began, as a person says it: a failure happened, any other state lasts. */
export const stateSinceText = ({ look }: Pick<FleetRow, 'look'>, length: string): string =>
  look === 'failed' ? `${length} ago` : `for ${length}`

const parseRowTime = (text: string | null): number | null => {
  const time = text === null ? Number.NaN : Date.parse(text)
  return Number.isNaN(time) ? null : time
}

/** Faults that a row keeps at most. */
const MAX_ROW_FAULTS = 8

/**
 * The machines of a lab and the faults that struck them, as the journal changes them. It is changed in place: ten thousand
 * rows are not copied for each entry.
 */
export class Rows {
  readonly #rows = new Map<string, FleetRow>()
  readonly #struck = new Map<string, Set<string>>()
  #listed: FleetRow[] | undefined
  /** Where each row stands in the list. */
  #places = new Map<string, number>()

  get size(): number {
    return this.#rows.size
  }

  /** In the order of their names, numbers by their value. */
  list(): readonly FleetRow[] {
    if (this.#listed) return this.#listed
    this.#listed = [...this.#rows.values()].sort((a, b) => nameCollator.compare(a.name, b.name))
    this.#places = new Map(this.#listed.map(({ id }, place) => [id, place]))
    return this.#listed
  }

  get(id: string): FleetRow | undefined {
    return this.#rows.get(id)
  }

  /** Finds a row by id or name. */
  named(ident: string): FleetRow | undefined {
    return this.#rows.get(ident) ?? this.list().find(({ name }) => name === ident)
  }

  /** Ids of the faults that struck it, the first ones first. */
  struckBy(id: string): readonly string[] {
    return [...(this.#struck.get(id) ?? [])]
  }

  /** True if a fault struck it: without a list, for drawings of thousands. */
  isStruck(id: string): boolean {
    return this.#struck.has(id)
  }

  /** Takes the place of all rows. */
  replace(rows: Iterable<FleetRow>): void {
    this.#rows.clear()
    for (const row of rows) this.#rows.set(row.id, row)
    for (const id of this.#struck.keys()) if (!this.#rows.has(id)) this.#struck.delete(id)
    this.#listed = undefined
  }

  forgetFaults(): void {
    this.#struck.clear()
  }

  /** @returns whether it changed a row, or `unknown` for one that has to be asked for */
  apply(entry: JournalEntry): boolean | 'unknown' {
    let changed: boolean | 'unknown' = entry.fault !== null && this.#strike(entry)
    if (entry.kind === 'state' && entry.node !== null) changed = this.#state(entry, entry.node)
    else if (entry.kind === 'step' && entry.node !== null) changed = this.#step(entry, entry.node)
    // The boot decides the rest of a machine's row.
    else if ((entry.kind === 'power' || entry.kind === 'boot') && entry.machine !== null && !entry.node)
      changed = this.#rows.get(entry.machine)?.isNode === false ? 'unknown' : changed
    return changed
  }

  #strike(entry: JournalEntry): boolean {
    const id = entry.node ?? entry.machine
    const fault = entry.fault
    if (id === null || fault === null || (entry.kind === 'fault' && entry.what !== 'struck')) return false
    const struck = this.#struck.get(id) ?? new Set()
    if (struck.has(fault) || struck.size >= MAX_ROW_FAULTS) return false
    this.#struck.set(id, struck.add(fault))
    return true
  }

  #step(entry: JournalEntry & { kind: 'step' }, id: string): boolean {
    const row = this.#rows.get(id)
    const step = `${entry.interface}.${entry.step}${entry.percent === null ? '' : ` ${entry.percent}%`}`
    if (!row || row.step === step) return false
    this.#put({ ...row, step })
    return true
  }

  #put(row: FleetRow): void {
    this.#rows.set(row.id, row)
    if (this.#listed) this.#listed[this.#places.get(row.id)!] = row
  }

  #state(entry: JournalEntry & { kind: 'state' }, id: string): boolean | 'unknown' {
    const row = this.#rows.get(id)
    if (entry.state === 'deleted') {
      this.#listed = undefined
      return this.#rows.delete(id)
    }
    if (!row) return 'unknown'
    const isSame = row.state === entry.state
    const next: FleetRow = {
      ...row,
      state: entry.state,
      look: lookOf(entry.state),
      power: entry.power,
      target: entry.target,
      error: entry.lastError,
      since: isSame ? row.since : parseRowTime(entry.labTime),
      step: entry.target === null ? null : row.step,
    }
    this.#put(next)
    return true
  }
}

const nameCollator = new Intl.Collator('en', { numeric: true })
