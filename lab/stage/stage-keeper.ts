import { UNSTABLE_STATES, type IronicState, type StoreState } from '../../ironic-mock/index.js'
import type { MachineSnapshots, MachineSnapshot } from '../../machine/index.js'
import {
  standsStill,
  type Clock,
  type ClockState,
  type Mover,
  type Probe,
  type VirtualClock,
} from '../../base/runtime/index.js'
import type { Agents } from './agents.js'
import type { CurrentDatabase } from './stage-database.js'
import type { ApiSwitch } from './api-switch.js'
import type { StagedIronic } from './ironic-process.js'

/** The clock if its time stands still unless it is moved, so that it can be set back. */
export const stillClock = (clock: Clock): VirtualClock | undefined => (standsStill(clock) ? clock : undefined)

/** A store of a stage: what it holds can be taken and put back. What it gives is never changed. */
export interface SnapshotStore<State> {
  take(): State
  restore(state: State): void | Promise<void>
  /** Lets go of what waits for it, before {@link restore}. */
  release?(): void
}

/** A stage at a moment at which it rests. */
export interface StageState {
  /** In milliseconds since the epoch, in lab time. */
  readonly at: number
  readonly clock: ClockState | null
  readonly steps: number
  readonly database: StoreState
  readonly ironic: IronicState
  readonly machines: readonly MachineSnapshot[]
  /** States of the registered stores, by name. */
  readonly stores: ReadonlyMap<string, unknown>
}

interface StageParts {
  clock: Clock
  probe: Probe
  apiSwitch: ApiSwitch
  database: CurrentDatabase
  ironic: StagedIronic
  agents: Agents
  machines: MachineSnapshots
}

/**
 * The one place that knows all stores of a stage. What has work under way besides its data (the conductor, machines,
 * agents, the clock) is stopped and started here; every other store registers.
 */
export class StageKeeper {
  readonly #parts: StageParts
  readonly #stores = new Map<string, SnapshotStore<unknown>>()

  constructor(parts: StageParts) {
    this.#parts = parts
  }

  /** Adds a store to all snapshots to come. */
  register<State>(name: string, store: SnapshotStore<State>): void {
    this.#stores.set(name, store as SnapshotStore<unknown>)
  }

  get names(): readonly string[] {
    return [...this.#stores.keys()]
  }

  /** The present work of the stage, for people; undefined when it rests. */
  busyWith(): string | undefined {
    const { ironic, agents, machines, database } = this.#parts
    for (const { columns } of database.records.nodes.values())
      if (UNSETTLED.has(columns.provision_state))
        return `node ${columns.name ?? columns.uuid} is ${columns.provision_state}`
    const command = agents.busyMachine()
    if (!ironic.current) return 'Ironic is stopped'
    return (
      ironic.current.busyWith() ??
      (command === undefined ? undefined : `the agent of ${command} runs a command`) ??
      machines.busyWith()
    )
  }

  /**
   * Why a stage that rests cannot go on from its data exactly as it would have: an agent also has a process, and a timer of
   * a caller is not in the data. Undefined when it can.
   */
  inexactFor(): string | undefined {
    const { ironic, machines } = this.#parts
    const clock = stillClock(this.#parts.clock)
    if (!clock) return 'time does not stand still'
    const ramdisk = machines.runningRamdisk()
    if (ramdisk !== undefined) return `the agent of ${ramdisk} runs`
    if (clock.pending !== ironic.current?.timers) return 'something waits for a time'
    return undefined
  }

  /** Names a disk that is a file with contents, which no snapshot has. */
  writtenFile(): Promise<string | undefined> {
    return this.#parts.machines.writtenFile()
  }

  /** Only while the stage rests. */
  take(): StageState {
    const { clock, probe, database, ironic, machines } = this.#parts
    return {
      at: clock.now(),
      clock: stillClock(clock)?.take() ?? null,
      steps: probe.steps,
      database: database.take(),
      ironic: ironic.current!.take(),
      machines: machines.take(),
      stores: new Map([...this.#stores].map(([name, store]) => [name, store.take()])),
    }
  }

  /**
   * Ends all that is under way, and goes on from a state.
   *
   * @param mover of a virtual clock, which nothing else moves meanwhile
   */
  async restore(state: StageState, mover: Mover | undefined): Promise<void> {
    const { clock, probe, apiSwitch, database, ironic, agents, machines } = this.#parts
    apiSwitch.hold()
    for (const store of this.#stores.values()) store.release?.()
    const ended = Promise.all([ironic[Symbol.asyncDispose](), agents.stop(), machines.end(state.machines)])
    // Work that waits for a time does not end, and is left behind with its timer.
    await (mover ? Promise.race([ended, mover.idle()]) : ended)
    await mover?.idle()
    const resume = await machines.restore(state.machines)
    const isSetBack = mover !== undefined && state.clock !== null
    if (isSetBack) stillClock(clock)?.restore(state.clock)
    await database.restore(isSetBack ? state.database : shiftDeadlines(state.database, clock.now() - state.at))
    for (const [name, store] of this.#stores) if (state.stores.has(name)) await store.restore(state.stores.get(name))
    const dispatch = await ironic.begin(isSetBack ? state.ironic : undefined)
    resume()
    probe.steps = state.steps
    apiSwitch.open(dispatch)
  }
}

/** On a clock that does not go back, time limits go on with what was left of them. */
const shiftDeadlines = (state: StoreState, by: number): StoreState => ({ ...state, records: state.records.later(by) })

const UNSETTLED = new Set<string>(UNSTABLE_STATES)
