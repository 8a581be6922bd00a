import { defined, errorChain, ScopeClosed, type Clock, type Probe } from '../../base/runtime/index.js'
import type { NodeRecord } from '../../base/wire/index.js'
import { CALLER_ENDED, type FaultReport, type FaultEntry } from '../../control/index.js'
import type { Events, LabEvent } from '../lab-events.js'
import { attachTo, type LabPoint } from '../points.js'
import { EntrySubjects, NO_SUBJECT, type EntrySubject } from './entry-subject.js'
import type { Journal } from './journal.js'
import { notePoint, RECORDED_POINTS, type RecordedPoint } from './record-points.js'
import { StepWatch, type SeenStep } from './record-steps.js'
import { SeenStates, type SeenStatesRecord } from './seen-states.js'

interface RecordedParts {
  probe: Probe
  events: Events
  clock: Clock
  /** Finds a node by uuid or name. */
  node: (ident: string) => Readonly<NodeRecord> | undefined
  /** The node that a machine belongs to. */
  nodeOf: (machine: string) => Readonly<NodeRecord> | undefined
  machineOf: (node: Readonly<NodeRecord>) => string | undefined
  /** Names of all nodes, or their uuids. */
  names: () => string[]
}

/** An agent that is stopped, or whose machine is switched off, no longer waits for an answer: that is no failure. */
const failureText = (error: unknown): string =>
  error instanceof ScopeClosed ? CALLER_ENDED : errorChain(error).join(': ')

/** Finds the id of the fault that struck at a point. */
type FaultFinder = (point: LabPoint) => string | null

/** The states and steps in which nodes were seen last. */
interface RecorderState extends SeenStatesRecord {
  readonly steps: ReadonlyMap<string, SeenStep>
}

/** Writes into a journal what passes a lab's probe, the states of its nodes, and what its faults and callers do. */
export class JournalRecorder {
  readonly #journal: Journal
  readonly #parts: RecordedParts
  readonly #subjects: EntrySubjects
  readonly #states = new SeenStates()
  readonly #steps: StepWatch

  constructor(journal: Journal, parts: RecordedParts) {
    this.#journal = journal
    this.#parts = parts
    const subjects = new EntrySubjects(parts)
    this.#subjects = subjects
    this.#steps = new StepWatch(
      (node, step) => journal.add({ kind: 'step', ...subjects.named({ node }), fault: null, ...step }),
      () => parts.clock.now(),
    )
  }

  /** Begins to record the points of the probe and the states of nodes. */
  begin(faultAt: FaultFinder): void {
    const { probe, events } = this.#parts
    attachTo(probe, (point, next, isReport) => this.#around(point, { next, isReport, faultAt }), RECORDED_POINTS)
    events.listen((event) => this.#heard(event), 'always')
  }

  /** Nodes whose states other processes have noted. */
  know(nodes: Iterable<Readonly<NodeRecord>>): void {
    this.#journal.onlyCounting(() => {
      for (const node of nodes) this.#note({ kind: 'node', node })
    })
  }

  struck(fault: FaultReport, point: LabPoint): void {
    this.#noteFault('struck', fault, this.#subjects.ofPoint(point))
  }

  fault(what: 'added' | 'lifted', fault: FaultReport): void {
    this.#noteFault(what, fault, this.#subjects.named(fault.match))
  }

  /** Notes a sentence about the lab. */
  lab(what: string): void {
    this.#journal.add({ kind: 'lab', ...NO_SUBJECT, fault: null, what })
  }

  take(): RecorderState {
    return { ...this.#states.take(), steps: this.#steps.take() }
  }

  restore(seen: RecorderState): void {
    this.#journal.activity.recount(seen.states)
    this.#states.restore(seen)
    this.#steps.restore(seen.steps)
  }

  /**
   * Both sides of an exchange in one lab pass here; the side that a fault of the other can cut off is the caller's. The
   * caller gets the promise itself: a lab that keeps a journal takes as many turns of the event loop as one without.
   */
  #around<T>(
    point: RecordedPoint,
    { next, isReport, faultAt }: { next: () => Promise<T>; isReport: boolean; faultAt: FaultFinder },
  ): Promise<T> {
    const began = this.#parts.clock.now()
    const before = this.#subjects.ofPoint(point)
    const note = (result: unknown, failure: string | null): void => {
      const fault = faultAt(point)
      const duration = this.#parts.clock.now() - began
      const at = this.#subjects.afterPoint(point, before)
      notePoint(this.#journal, point, { at, fault, duration, result, failure }, this.#parts.names)
    }
    // A report is noted where it is made.
    if (isReport) note(undefined, null)
    const end = next()
    if (isReport) return end
    // Noted before the caller continues, since it waits for the promise from now on.
    void end.then(
      (result) => note(result, null),
      (error: unknown) => note(undefined, failureText(error)),
    )
    return end
  }

  /** The process that has committed a change notes it. */
  #heard(event: LabEvent): void {
    if ('commit' in event && event.commit?.isOwn === false) this.#journal.onlyCounting(() => this.#note(event))
    else this.#note(event)
  }

  #note(event: LabEvent): void {
    if (event.kind === 'node-gone') return this.#noteDeletion(event)
    if (event.kind === 'progress') {
      const record = this.#parts.nodeOf(event.machine)
      if (record) this.#steps.progress(record.uuid, event)
      return
    }
    if (event.kind !== 'node') return
    this.#steps.before(event.node)
    this.#noteState(event)
    this.#steps.after(event.node)
  }

  #noteState({ node: record, commit }: LabEvent & { kind: 'node' }): void {
    const change = this.#states.see(record)
    if (!change) return
    const { node, name, machine } = this.#subjects.ofNode(record)
    this.#journal.add({
      kind: 'state',
      node,
      name,
      machine,
      fault: null,
      state: record.provision_state,
      was: change.was,
      target: record.target_provision_state,
      power: record.power_state,
      lastError: record.last_error,
      ...defined({ revision: commit?.revision }),
    })
  }

  #noteDeletion({ uuid, commit }: LabEvent & { kind: 'node-gone' }): void {
    const was = this.#states.remove(uuid)
    this.#steps.gone(uuid)
    this.#journal.add({
      kind: 'state',
      node: uuid,
      name: null,
      machine: null,
      fault: null,
      state: 'deleted',
      was,
      target: null,
      power: null,
      lastError: null,
      ...defined({ revision: commit?.revision }),
    })
  }

  #noteFault(what: FaultEntry['what'], { id, effect }: FaultReport, at: EntrySubject): void {
    this.#journal.add({ kind: 'fault', ...at, fault: id, what, effect: effect.kind })
  }
}
