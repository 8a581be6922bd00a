import type { Clock } from '../../base/runtime/index.js'
import type { NodeRecord } from '../../base/wire/index.js'
import type { DatabaseSession } from '../store/postgres/database-session.js'
import { CHANGED, nodeImageOf, type NodeRow } from '../store/postgres/read-rows.js'
import type { NodeEntry } from '../store/record-store.js'

/** The nodes of a process's machines, by their names. */
const OWN_NODES = `select machines.name as machine, nodes.uuid, nodes.revision
  from members join machines on machines.member = members.id join nodes on nodes.name = machines.node
  where members.backend = pg_backend_pid()`

/** Least milliseconds between two looks that commits ask for. */
const COMMITTED_INTERVAL = 10

interface OwnNodeRow {
  readonly machine: string
  readonly uuid: string
  readonly revision: string
}

/**
 * The nodes of the machines of a process, as far as it needs them: while a fault names a node, a state or a phase. It looks
 * again when anything was committed, so that it hears of a change some milliseconds after it.
 */
export class MachineNodes {
  readonly #session: DatabaseSession
  /** The clock of the wall. */
  readonly #clock: Clock
  #isNeeded = false
  #looking: Promise<void> = Promise.resolve()
  /** The look that waits for its time. */
  #next: Promise<void> | undefined
  #ofMachines: ReadonlyMap<string, NodeEntry> = new Map()
  /** By uuids and names. */
  #idents: ReadonlyMap<string, { readonly entry: NodeEntry; readonly machine: string }> = new Map()

  constructor(session: DatabaseSession, clock: Clock) {
    this.#session = session
    this.#clock = clock
  }

  /** Resolves when the nodes are there as they are after the call, where they are needed. @throws the driver's error */
  async need(isNeeded: boolean): Promise<void> {
    this.#isNeeded = isNeeded
    if (isNeeded) await this.#look()
  }

  /** Looks again soon: something was committed. */
  committed(): void {
    if (!this.#isNeeded) return
    this.#next ??= this.#looking
      .catch(() => {})
      .then(() => this.#clock.sleep(COMMITTED_INTERVAL, { weak: true }))
      .then(() => {
        this.#next = undefined
        return this.#look()
      })
      // The next connection, and the next commit, ask again.
      .catch(() => {})
  }

  /** The node of one of the machines, by uuid or name. */
  node(ident: string): Readonly<NodeRecord> | undefined {
    return this.#idents.get(ident)?.entry.record
  }

  nodeOf(machine: string): Readonly<NodeRecord> | undefined {
    return this.#ofMachines.get(machine)?.record
  }

  machineOf(uuid: string): string | undefined {
    return this.#idents.get(uuid)?.machine
  }

  #look(): Promise<void> {
    this.#looking = this.#looking.catch(() => {}).then(() => this.#read())
    return this.#looking
  }

  async #read(): Promise<void> {
    const { rows } = await this.#session.query<OwnNodeRow & Record<string, unknown>>(OWN_NODES)
    const changed = rows.filter(({ uuid, revision }) => this.#revisionOf(uuid) !== Number(revision))
    const read = await this.#entries(changed.map(({ uuid }) => uuid))
    const nodes = rows.flatMap(({ machine, uuid }) => {
      const entry = read.get(uuid) ?? this.#idents.get(uuid)?.entry
      return entry ? [{ machine, entry }] : []
    })
    this.#ofMachines = new Map(nodes.map(({ machine, entry }) => [machine, entry]))
    this.#idents = new Map(
      nodes.flatMap((node) => {
        const { uuid, name } = node.entry.columns
        return [uuid, ...(name === null ? [] : [name])].map((ident) => [ident, node] as const)
      }),
    )
  }

  #revisionOf(uuid: string): number | undefined {
    return this.#idents.get(uuid)?.entry.revision
  }

  async #entries(uuids: readonly string[]): Promise<ReadonlyMap<string, NodeEntry>> {
    if (uuids.length === 0) return new Map()
    const { rows } = await this.#session.query<NodeRow & Record<string, unknown>>(CHANGED.nodes.text, [uuids])
    return new Map(rows.map((row) => [row.uuid, nodeImageOf(row).entry]))
  }
}
