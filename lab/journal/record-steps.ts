import { seconds } from '../../base/runtime/index.js'
import { formatClientValue, type JsonObject, type NodeRecord, type StepKind } from '../../base/wire/index.js'
import type { LabEvent } from '../lab-events.js'
import type { StepEntry } from '../../control/index.js'

/** The step of a node that was seen last. */
export interface SeenStep {
  readonly flow: StepKind
  readonly interface: string
  readonly step: string
  readonly index: number
  /** True if the journal has its end. */
  readonly hasEnded: boolean
  /** Percentage that was noted last, and when. */
  readonly percent: number
  readonly at: number
}

type NotedStep = Pick<StepEntry, 'flow' | 'interface' | 'step' | 'index' | 'what' | 'stage' | 'percent'>

const KINDS: readonly StepKind[] = ['clean', 'deploy', 'service']

/** Percentages are noted when they have grown by so many. */
const TENTH = 10

/** Watches the commits of nodes for the begin and end of steps, and the progress of agents for percentages. */
export class StepWatch {
  readonly #seen = new Map<string, SeenStep>()
  readonly #note: (node: string, step: NotedStep) => void
  readonly #now: () => number

  constructor(note: (node: string, step: NotedStep) => void, now: () => number) {
    this.#note = note
    this.#now = now
  }

  /** Notes a step that has ended. Called before the node's state is noted. */
  before(node: Readonly<NodeRecord>): void {
    const seen = this.#seen.get(node.uuid)
    if (!seen || seen.hasEnded) return
    const failed = node.provision_state.endsWith(' failed')
    if (!failed && isSameStep(seen, currentStep(node))) return
    this.#note(node.uuid, { ...stepIdentityOf(seen), what: failed ? 'failed' : 'ended', stage: null, percent: null })
    this.#seen.set(node.uuid, { ...seen, hasEnded: true })
  }

  /** Notes a step that begins. Called after the node's state is noted. */
  after(node: Readonly<NodeRecord>): void {
    const current = currentStep(node)
    if (!current) {
      this.#seen.delete(node.uuid)
      return
    }
    const seen = this.#seen.get(node.uuid)
    if (seen && isSameStep(seen, current)) return
    this.#seen.set(node.uuid, { ...current, hasEnded: false, percent: 0, at: this.#now() })
    if (node.provision_state.endsWith(' failed')) return
    this.#note(node.uuid, { ...current, what: 'began', stage: null, percent: null })
  }

  gone(uuid: string): void {
    this.#seen.delete(uuid)
  }

  progress(uuid: string, { step, progress }: LabEvent & { kind: 'progress' }): void {
    const seen = this.#seen.get(uuid)
    if (!seen || seen.hasEnded || seen.step !== step) return
    const now = this.#now()
    if ('stage' in progress) {
      this.#seen.set(uuid, { ...seen, percent: 0, at: now })
      this.#note(uuid, { ...stepIdentityOf(seen), what: 'stage', stage: progress.stage, percent: null })
    } else if ('percent' in progress) {
      const isFar = progress.percent >= seen.percent + TENTH && now - seen.at >= seconds(1)
      if (!isFar) return
      const percent = Math.floor(progress.percent)
      this.#seen.set(uuid, { ...seen, percent, at: now })
      this.#note(uuid, { ...stepIdentityOf(seen), what: 'percent', stage: null, percent })
    }
  }

  take(): ReadonlyMap<string, SeenStep> {
    return new Map(this.#seen)
  }

  restore(seen: ReadonlyMap<string, SeenStep>): void {
    this.#seen.clear()
    for (const [uuid, step] of seen) this.#seen.set(uuid, step)
  }
}

const stepIdentityOf = ({ flow, interface: owner, step, index }: SeenStep) => ({ flow, interface: owner, step, index })

function currentStep(node: Readonly<NodeRecord>): ReturnType<typeof stepIdentityOf> | undefined {
  for (const flow of KINDS) {
    const step = node[`${flow}_step`] as JsonObject | null
    if (!step || step.step === undefined) continue
    const index = Number(node.driver_internal_info[`${flow}_step_index`] ?? 0)
    return { flow, interface: formatClientValue(step.interface), step: formatClientValue(step.step), index }
  }
  return undefined
}

const isSameStep = (seen: SeenStep, now: ReturnType<typeof stepIdentityOf> | undefined): boolean =>
  now !== undefined &&
  seen.flow === now.flow &&
  seen.index === now.index &&
  seen.step === now.step &&
  seen.interface === now.interface
