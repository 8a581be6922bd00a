import {
  LabClock,
  Mutex,
  UserError,
  defined,
  type Clock,
  type Mover,
  type SeededRandom,
} from '../../base/runtime/index.js'
import type { Events } from '../lab-events.js'
import type { Journal } from '../journal/journal.js'
import { stillClock, type StageKeeper, type StageState } from '../stage/stage-keeper.js'
import type { LoggedInput, HistoryPosition } from './lab-input.js'
import type { Forks } from './forks.js'
import type { Inputs } from './inputs.js'
import type { LabSnapshots, LabSnapshot, Snapshots } from './snapshot.js'
import { readSnapshot, writeSnapshot, type LabIdentity } from './snapshot-file.js'

/** A state that is there as data, and where in the log of inputs it was taken. */
interface Base {
  readonly state: StageState
  readonly inputs: number
}

/** Values by which two labs at the same place agree. */
export interface LabFingerprint {
  readonly random: readonly number[]
  readonly order: number
}

export interface StoredSnapshot extends LabSnapshot {
  readonly base: Base
  /** The log of inputs, which may have grown since. */
  readonly log: readonly LoggedInput[]
  readonly inputs: number
  readonly place: HistoryPosition | null
  readonly check: LabFingerprint | null
  /** True if the log begins at the start of the lab. */
  readonly isWhole: boolean
}

interface SnapshotParts {
  keeper: StageKeeper
  clock: Clock
  events: Events
  journal: Journal
  /** Writes a sentence into the journal. */
  report: (what: string) => void
  random: SeededRandom
  /** Absent for a lab that cannot be repeated, with the reason. */
  inputs: Inputs | undefined
  unrepeatable: string
  /** True where the machines are elsewhere, and would not go back. */
  isWithoutMachines: boolean
  /** Absent where no other lab has the same options. */
  identity: (() => LabIdentity) | undefined
  forks: Forks
}

const NOT_FROM_START = 'its calls are not known from the start of the lab'
const NO_OTHER = 'no other lab begins at the same time with the same random numbers'

/** The id of the start of a lab among its snapshots. */
const START_SNAPSHOT = 'start'

/** Takes snapshots of a stage, and brings it back to them. See docs/architecture.md. */
export class StageSnapshots implements Snapshots {
  readonly #parts: SnapshotParts
  readonly #snapshots = new Map<string, StoredSnapshot>()
  readonly #alone = new Mutex()
  /** Labs of their own, from these snapshots. */
  readonly forks: Forks
  #count = 0
  #base: Base | undefined
  /** The lab as it was made, also in a fork. */
  #beginning: StoredSnapshot | undefined
  #isWhole = true

  constructor(parts: SnapshotParts) {
    this.#parts = parts
    this.forks = parts.forks
  }

  /** Keeps the start of the lab, at which nothing moves. */
  begin(): void {
    this.#base = { state: this.#parts.keeper.take(), inputs: 0 }
    this.#beginning = this.#made(START_SNAPSHOT, this.#base, this.#isLogged)
    this.#snapshots.set(START_SNAPSHOT, this.#beginning)
  }

  take(): Promise<LabSnapshot> {
    return this.#atRest(async () => {
      const { keeper, inputs, clock, unrepeatable } = this.#parts
      const why = (await keeper.writtenFile()) ?? this.#busyWith()
      const isExact = why === undefined && inputs?.isOn === true && keeper.inexactFor() === undefined
      let base: Base
      if (isExact) {
        if (inputs.broken !== undefined) {
          inputs.begin([], inputs.place.rest ?? 0)
          this.#isWhole = false
        }
        base = this.#base = { state: keeper.take(), inputs: inputs.log.length }
      } else if (this.#isLogged) base = this.#base!
      else if (why === undefined) base = { state: keeper.take(), inputs: inputs?.log.length ?? 0 }
      else throw busy(why, (inputs?.isOn && inputs.broken) || unrepeatable)
      const stored = this.#made(`snapshot-${++this.#count}`, base, this.#isLogged)
      this.#snapshots.set(stored.id, stored)
      return pickSnapshot({ ...stored, at: clock.now() })
    })
  }

  list(): readonly LabSnapshot[] {
    return [...this.#snapshots.values()].map(pickSnapshot)
  }

  async restore(id: string): Promise<void> {
    await this.adopt(this.get(id))
  }

  async reset(): Promise<void> {
    if (!this.#snapshots.has(START_SNAPSHOT))
      throw new UserError('snapshot-unsupported', 'a lab with a state folder has no start to go back to', {
        remedy: 'take a snapshot and restore that, or start with an empty folder',
      })
    return this.restore(START_SNAPSHOT)
  }

  remove(id: string): void {
    this.get(id)
    if (id === START_SNAPSHOT)
      throw new UserError('snapshot-unsupported', 'the start of a lab cannot be removed: reset goes back to it', {
        remedy: 'remove other snapshots',
      })
    this.#snapshots.delete(id)
  }

  export(id: string): string {
    const { isWhole, log, inputs, place, check, at } = this.get(id)
    const { unrepeatable, identity, inputs: logged } = this.#parts
    const isRepeatable = logged && place && check
    if (!isRepeatable || !isWhole || !identity)
      throw new UserError(
        'snapshot-unsupported',
        `${id} cannot be written to a file: ${!isRepeatable ? unrepeatable : identity ? NOT_FROM_START : NO_OTHER}`,
      )
    return writeSnapshot({ identity: identity(), at, place, check, inputs: log.slice(0, inputs) })
  }

  import(text: string): LabSnapshot {
    const { identity, inputs, unrepeatable } = this.#parts
    const start = this.#beginning
    if (!inputs || !start?.place || !identity)
      throw new UserError(
        'snapshot-unsupported',
        `this lab takes no snapshot from a file: ${start?.place && inputs ? NO_OTHER : unrepeatable}`,
      )
    const { at, place, check, inputs: log } = readSnapshot(text, identity())
    const id = `snapshot-${++this.#count}`
    const count = log.length
    const stored = { id, at, repeats: count, base: start.base, log, inputs: count, place, check, isWhole: true }
    this.#snapshots.set(id, stored)
    return pickSnapshot(stored)
  }

  /** @throws UserError for an unknown id */
  get(id: string): StoredSnapshot {
    const stored = this.#snapshots.get(id)
    if (stored) return stored
    throw new UserError('snapshot-unknown', `there is no snapshot ${JSON.stringify(id)}`, {
      remedy: `there are: ${[...this.#snapshots.keys()].join(', ') || 'none'}`,
    })
  }

  /** Goes to a snapshot, which may be of another lab with the same options. */
  async adopt(stored: StoredSnapshot): Promise<void> {
    const { clock } = this.#parts
    const goesOn = clock instanceof LabClock && stored.base.state.clock !== null ? clock.mode : undefined
    // Repeating needs time that stands still.
    if (clock instanceof LabClock && typeof goesOn === 'number') clock.mode = 'manual'
    try {
      await this.#adopt(stored)
    } finally {
      if (clock instanceof LabClock && typeof goesOn === 'number') clock.mode = goesOn
    }
  }

  /** Begins as a fork at a snapshot of another lab with the same options: a reset goes back to there. */
  async beginAt(stored: StoredSnapshot): Promise<void> {
    await this.adopt(stored)
    this.#snapshots.set(START_SNAPSHOT, { ...stored, id: START_SNAPSHOT })
  }

  #adopt(stored: StoredSnapshot): Promise<void> {
    return this.#atRest(async (mover) => {
      const { events, journal, report } = this.#parts
      await events.muted(() => journal.muted(() => this.#goTo(stored, mover)))
      report(`went back to ${stored.id}`)
      events.emit({ kind: 'restored', snapshot: stored.id })
    })
  }

  async #goTo(stored: StoredSnapshot, mover: Mover | undefined): Promise<void> {
    const { keeper, inputs } = this.#parts
    const { base, log, place, check } = stored
    inputs?.abandon()
    await keeper.restore(base.state, mover)
    this.#base = base
    this.#isWhole = stored.isWhole
    if (!inputs || !mover) return
    if (!place) {
      // Repetitions agree from here on, though not with what the lab did at first.
      this.#base = { state: base.state, inputs: 0 }
      this.#isWhole = false
      inputs.begin([], inputs.place.rest ?? 0)
      if (base.state.clock === null) inputs.break('the last snapshot at rest was taken while time went on by itself')
      return
    }
    inputs.begin(log.slice(0, stored.inputs), place.rest ?? 0)
    const failed = await inputs
      .repeat(log.slice(base.inputs, stored.inputs), place, mover)
      .catch((error: unknown) => error)
    const now = { ...inputs.place, ...this.#check() }
    if (failed !== undefined || JSON.stringify(now) !== JSON.stringify({ ...place, ...check }))
      throw new UserError('snapshot-diverged', `repeating ${stored.id} led to another state than it was taken in`, {
        ...defined({ cause: failed instanceof Error ? failed : undefined }),
        remedy:
          'steps, listeners and servers of the lab have to do the same each time; a snapshot at rest is not repeated',
      })
  }

  #busyWith(): string | undefined {
    const { keeper, inputs } = this.#parts
    const running = inputs && inputs.running > 0 ? 'a call has not been answered yet' : undefined
    return running ?? keeper.busyWith()
  }

  /** True if the lab can be repeated from {@link #base} up to now. */
  get #isLogged(): boolean {
    const { inputs } = this.#parts
    return inputs?.isOn === true && inputs.broken === undefined
  }

  #made(id: string, base: Base, isLogged: boolean): StoredSnapshot {
    const { inputs, clock } = this.#parts
    const log = inputs?.log ?? []
    return {
      id,
      at: clock.now(),
      base,
      log,
      inputs: log.length,
      repeats: isLogged ? log.length - base.inputs : 0,
      place: isLogged ? inputs!.place : null,
      check: isLogged ? this.#check() : null,
      isWhole: this.#isWhole,
    }
  }

  #check(): LabFingerprint {
    const { clock, random } = this.#parts
    return { random: random.take(), order: clock.nextOrder ?? 0 }
  }

  /** Runs `work` while nothing else moves the lab. */
  #atRest<T>(work: (mover: Mover | undefined) => Promise<T>): Promise<T> {
    const { clock, isWithoutMachines } = this.#parts
    if (isWithoutMachines)
      return Promise.reject(
        new UserError('machines-elsewhere', 'the machines of this lab are elsewhere, and would not go back with it'),
      )
    return stillClock(clock)?.atRest(work) ?? this.#alone.run(() => work(undefined))
  }
}

const pickSnapshot = ({ id, at, repeats }: LabSnapshot): LabSnapshot => ({ id, at, repeats })

const busy = (why: string, unrepeatable: string): UserError =>
  new UserError('snapshot-busy', `no snapshot can be taken now: ${why}, and ${unrepeatable}`, {
    remedy:
      'wait until no work is in progress: nodes settled, no command running; or start the lab with its clock on manual or auto',
  })

/** @param fork makes a lab of the same options, at a snapshot */
export const withFork = <Fork>(
  snapshots: StageSnapshots,
  fork: (from: StoredSnapshot) => Promise<Fork>,
): LabSnapshots<Fork> => ({
  take: () => snapshots.take(),
  list: () => snapshots.list(),
  restore: (id) => snapshots.restore(id),
  reset: () => snapshots.reset(),
  remove: (id) => snapshots.remove(id),
  export: (id) => snapshots.export(id),
  import: (text) => snapshots.import(text),
  fork: async (id) => fork(snapshots.get(id)),
})
