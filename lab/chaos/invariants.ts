import type { NodeRecord } from '../../base/wire/index.js'
import { findNodeMachine } from '../bmcs/bmcs.js'
import type { StagedLab } from '../create-lab.js'
import type { LabEvent } from '../lab-events.js'
import type { JournalEntry } from '../../control/index.js'
import { attachTo } from '../points.js'

/** Conditions that must hold in every run, under all faults. */
export const INVARIANTS = {
  'reserved for ever': 'no node stays locked once all faults are lifted',
  'unexpected server error': 'Ironic answers 5xx only if a fault makes it do so',
  'deployed without its config': 'a machine starts only with a config that was requested for its node',
  'unexpected disk write': 'a disk is written only during cleaning, or as the root device of a deployment',
  'machine without a node': 'a deleted node leaves no machine behind, and nothing calls its BMC',
  'never settled': 'each node reaches its goal once all faults are lifted',
  'gap in the journal': 'every call, every state change and every fault that struck is in the journal',
} as const

/** Something that must hold in every run of chaos: `docs/chaos.md` has what each means. */
export type ChaosInvariant = keyof typeof INVARIANTS

/** An invariant that did not hold. */
export interface InvariantViolation {
  invariant: ChaosInvariant
  /** Name of the node; null where it concerns none. */
  node: string | null
  /** The sentence that says so. */
  seen: string
  /** Milliseconds of lab time since the lab began. */
  at: number
}

/** Where Ironic means to have disks written: all of the machine's in a cleaning, the root device in a deployment. */
type Writable = 'none' | 'root' | 'all'

const ROOT_DISK = 'sda'

/** Watches a lab for violations. */
export class Watch implements Disposable {
  readonly violations: InvariantViolation[] = []
  readonly #lab: StagedLab
  readonly #watching: Disposable[]
  readonly #writable = new Map<string, Writable>()
  /** Configs that were asked for each node, by name. */
  readonly #asked = new Map<string, Set<string>>()
  readonly #states = new Map<string, string>()
  readonly #nodes = new Map<string, Readonly<NodeRecord>>()
  /** Counted here and in the journal; both must agree. */
  readonly #counted = { calls: 0, states: 0 }
  readonly #written = { calls: 0, states: 0, strikes: 0 }
  #last = 0
  #sent = 0

  constructor(lab: StagedLab) {
    this.#lab = lab
    this.#watching = [
      lab.events.listen((event) => this.#event(event)),
      lab.journal.listen((entry) => this.#entry(entry)),
      attachTo(
        lab.probe,
        (point, next) => {
          this.#write(point.machine, point.disk)
          return next()
        },
        ['disk-write'],
      ),
    ]
  }

  [Symbol.dispose](): void {
    for (const one of this.#watching) one[Symbol.dispose]()
  }

  /** A client has sent a request to Ironic. */
  sent(): void {
    this.#sent++
  }

  asks(node: string, config: string): void {
    const asked = this.#asked.get(node) ?? new Set()
    this.#asked.set(node, asked.add(config))
  }

  /** A node is active: what its machine has booted must be what was asked for. */
  active(node: string, config: string): void {
    const found = [...this.#nodes.values()].find(({ name }) => name === node)
    const machine = found && findNodeMachine(found, this.#lab.machines)
    // A machine that was switched off, or is on its way up, shows it later.
    if (machine?.boot()?.outcome !== 'disk') return
    const report = machine.firstBoot()
    if (!report || report.failure !== null || report.files.includes(config)) return
    this.#violated('deployed without its config', node, `it is active, and its system has no ${config}`)
  }

  /** Checks the end of a run: all faults are lifted, and each node had the time that it needs. */
  atEnd(unsettled: readonly { node: string; why: string }[], struck: number): void {
    for (const { name, provision_state, reservation } of this.#nodes.values())
      if (reservation !== null) this.#violated('reserved for ever', name, `it is ${provision_state}, and locked`)
    for (const { node, why } of unsettled) this.#violated('never settled', node, why)
    const behind = new Set([...this.#nodes.values()].map((node) => findNodeMachine(node, this.#lab.machines)?.spec.id))
    for (const { spec } of this.#lab.machines.list())
      if (!behind.has(spec.id)) this.#violated('machine without a node', null, `${spec.id} has none`)
    this.#agree('requests', this.#sent, this.#written.calls)
    this.#agree('changes of states', this.#counted.states, this.#written.states)
    this.#agree('strikes', struck, this.#written.strikes)
  }

  #agree(what: string, counted: number, written: number): void {
    if (counted !== written)
      this.#violated('gap in the journal', null, `there were ${counted} ${what}, and the journal has ${written}`)
  }

  #event(event: LabEvent): void {
    if (event.kind === 'node') {
      this.#nodes.set(event.node.uuid, event.node)
      const { uuid, provision_state: state, power_state: power } = event.node
      const now = `${state}, ${power}`
      if (this.#states.get(uuid) !== now) this.#counted.states++
      this.#states.set(uuid, now)
      const machine = findNodeMachine(event.node, this.#lab.machines)?.spec.id
      const writable = WRITABLE[state]
      if (machine !== undefined && writable !== undefined) this.#writable.set(machine, writable)
    } else if (event.kind === 'node-gone') {
      this.#counted.states++
      this.#states.delete(event.uuid)
      this.#nodes.delete(event.uuid)
    } else if (event.kind === 'first-boot') {
      const { report, machine } = event
      const name = this.#nameOf(machine)
      const asked = this.#asked.get(name ?? '') ?? new Set()
      if (report.failure === null && !report.files.some((path) => asked.has(path)))
        this.#violated(
          'deployed without its config',
          name,
          `${machine} started a system without any config of its node`,
        )
    }
  }

  #entry(entry: JournalEntry): void {
    if (entry.id !== this.#last + 1)
      this.#violated('gap in the journal', entry.name, `entry ${entry.id} comes after entry ${this.#last}`)
    this.#last = entry.id
    switch (entry.kind) {
      case 'exchange':
        if (entry.from === 'client') this.#written.calls++
        if (entry.to === 'ironic' && (entry.status ?? 0) >= 500 && entry.fault === null)
          this.#violated(
            'unexpected server error',
            entry.name,
            `${entry.method} ${entry.target.replace(VIOLATION_UUIDS, 'ID')} answered ${entry.status}`,
          )
        return
      case 'state':
        this.#written.states++
        return
      case 'fault':
        if (entry.what === 'struck') this.#written.strikes++
        return
      case 'bmc':
        if (entry.node === null && entry.method === null)
          this.#violated('machine without a node', null, `the BMC of a node that is gone was called: ${entry.call}`)
        return
      default:
    }
  }

  #write(machine: string, disk: string): void {
    const writable = this.#writable.get(machine) ?? 'none'
    if (writable === 'all' || (writable === 'root' && disk === ROOT_DISK)) return
    this.#violated('unexpected disk write', this.#nameOf(machine), `${disk} of ${machine} was written`)
  }

  #nameOf(machine: string): string | null {
    for (const node of this.#nodes.values())
      if (findNodeMachine(node, this.#lab.machines)?.spec.id === machine) return node.name
    return null
  }

  /** Keeps the first violation of each kind and node: the others follow from it. */
  #violated(invariant: ChaosInvariant, node: string | null, seen: string): void {
    if (this.violations.some((known) => known.invariant === invariant && known.node === node)) return
    this.violations.push({ invariant, node, seen, at: this.#lab.clock.elapsed() })
  }
}

const VIOLATION_UUIDS = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g

/** States that change what may be written; in the others it stays as it was. */
const WRITABLE: Readonly<Record<string, Writable>> = {
  enroll: 'none',
  available: 'none',
  inspecting: 'none',
  cleaning: 'all',
  deploying: 'root',
  active: 'root',
}
