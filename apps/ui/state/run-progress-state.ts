import type { RunHost, RunProgress, RunStage } from '../../../control/index.js'
import type { Look } from './looks.js'

export const OUTCOME_LOOKS: Readonly<Record<RunHost['outcome'], Look>> = {
  waiting: 'new',
  running: 'working',
  ok: 'active',
  failed: 'failed',
  skipped: 'ready',
}

/** A stage of a host, also one that it has not come to. */
export interface ShownStage {
  readonly stage: string
  readonly status: RunStage['status'] | 'to come'
  /** `12 s, at the second attempt`; empty where there is nothing to say. */
  readonly note: string
}

const ORDINALS = ['', 'first', 'second', 'third', 'fourth', 'fifth']

const attemptText = (attempts: number): string =>
  attempts < 2 ? '' : `at the ${ORDINALS[attempts] ?? `${attempts}th`} attempt`

/** All stages of a host, in their order. */
export function stagesOf({ stages: names }: Pick<RunProgress, 'stages'>, { stages, percent }: RunHost): ShownStage[] {
  return names.map((stage) => {
    const begun = stages.find((one) => one.stage === stage)
    if (!begun) return { stage, status: 'to come', note: '' }
    const { status, attempts, seconds } = begun
    const took =
      seconds === null || status === 'skipped' ? '' : `${seconds < 10 ? seconds.toFixed(1) : Math.round(seconds)} s`
    const shown = status === 'started' && percent !== null ? `${Math.floor(percent)} %` : took
    return { stage, status, note: [shown, attemptText(attempts)].filter(Boolean).join(', ') }
  })
}

/** How far a run is, in a sentence. */
export function summarizeRun({ hosts: all, isOver, isCheck }: RunProgress): string {
  const count = (outcome: RunHost['outcome']) => all.filter((host) => host.outcome === outcome).length
  const done = isCheck ? 'fine' : 'installed'
  const counts = [
    [count('ok'), done],
    [count('failed'), 'failed'],
    [count('skipped'), 'skipped'],
    [count('running'), isOver ? 'not finished' : 'running'],
    [count('waiting'), isOver ? 'not started' : 'waiting'],
  ] as const
  const words = counts.filter(([number]) => number > 0).map(([number, word]) => `${number} ${word}`)
  if (all.length === 0) return isOver ? 'The run is over.' : 'The run begins.'
  return `${isOver ? 'The run is over' : `${all.length} ${all.length === 1 ? 'host' : 'hosts'}`}: ${words.join(', ')}.`
}

/** Failed hosts first, then the others in the order of the file. */
export const failedFirst = (all: readonly RunHost[]): RunHost[] => [
  ...all.filter(({ outcome }) => outcome === 'failed'),
  ...all.filter(({ outcome }) => outcome !== 'failed'),
]
