import type { RunHost, RunProgress } from '../../../control/index.js'
import type { RunEvent } from '../pipeline/run-events.js'
import type { HostRunState, HostStageState } from '../pipeline/run-state.js'

/** The latest that a host showed of its present stage. */
interface Latest {
  percent: number | null
  detail: string
}

/** Knows how far a run is, from the states of its hosts and its events. */
export class RunFollower {
  readonly #run: Pick<RunProgress, 'isRehearsal' | 'isCheck' | 'stages'>
  #id: string | null = null
  #states: ReadonlyMap<string, HostRunState> = new Map()
  readonly #latest = new Map<string, Latest>()
  #report: string | null = null
  #isOver = false

  constructor(run: Pick<RunProgress, 'isRehearsal' | 'isCheck' | 'stages'>) {
    this.#run = run
  }

  /** @param states those that the run changes */
  readonly began = (id: string, states: ReadonlyMap<string, HostRunState>): void => {
    this.#id = id
    this.#states = states
  }

  readonly see = (event: RunEvent): void => {
    if (event.event === 'stage' && event.status === 'started') this.#latest.delete(event.host)
    if (event.event === 'console') this.#latestOf(event.host).detail = `${event.kind}: ${event.line}`
    if (event.event !== 'progress') return
    const latest = this.#latestOf(event.host)
    if (event.percent !== undefined) latest.percent = event.percent
    if (event.text !== undefined) latest.detail = event.text
  }

  /** @param report path of its report */
  ended(report: string | null): void {
    this.#isOver = true
    this.#report = report
  }

  get isOver(): boolean {
    return this.#isOver
  }

  readonly progress = (): RunProgress => ({
    id: this.#id,
    ...this.#run,
    isOver: this.#isOver,
    report: this.#report,
    hosts: [...this.#states.values()].map((state) => toRunHost(state, this.#latest.get(state.name))),
  })

  #latestOf(host: string): Latest {
    const latest = this.#latest.get(host) ?? { percent: null, detail: '' }
    this.#latest.set(host, latest)
    return latest
  }
}

function toRunHost(state: HostRunState, latest: Latest | undefined): RunHost {
  const stages = Object.entries(state.stages) as [string, HostStageState][]
  const present = stages.find(([, { status }]) => status === 'started')?.[1]
  const failure = stages.find(([, { status }]) => status === 'failed')?.[1].failure ?? present?.failure
  return {
    host: state.name,
    outcome: state.outcome,
    stages: stages.map(([stage, { status, attempts, seconds }]) => ({
      stage,
      status,
      attempts,
      seconds: status === 'started' ? null : seconds,
    })),
    since: present ? new Date(present.startedAt).toISOString() : null,
    percent: present ? (latest?.percent ?? null) : null,
    detail: latest?.detail ?? '',
    why: failure?.sentences ?? (state.skipped === null ? [] : [state.skipped]),
    remedy: failure?.remedy ?? null,
  }
}
