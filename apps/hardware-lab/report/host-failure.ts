import type { HostRunReport } from './run-report.js'

/** The failure of a host, as reports tell it. */
interface FailedStage {
  stage: string
  code: string
  /** Sentences from the outermost to the cause. */
  sentences: readonly string[]
  /** The innermost sentence: the one that a list of failures has room for. */
  cause: string
  remedy: string | null
}

/** The failure of a host; undefined if none of its stages failed. */
export function failureOf({ stages }: HostRunReport): FailedStage | undefined {
  const failed = stages.find(({ status }) => status === 'failed')
  if (!failed?.failure) return undefined
  const { code, sentences, remedy } = failed.failure
  return { stage: failed.stage, code, sentences, remedy, cause: sentences.at(-1) ?? code }
}

/** As in `failed in steps`. */
export function outcomeText(host: HostRunReport): string {
  const stage = failureOf(host)?.stage
  return stage === undefined ? host.outcome : `${host.outcome} in ${stage}`
}

/**
 * Lines of a text: the sentences of a failure from the outermost to its cause, each but the first named as a reason, and
 * the remedy; or the reason why a host was not begun.
 */
export function failureLines(host: HostRunReport): string[] {
  const failure = failureOf(host)
  if (!failure) return host.outcome === 'skipped' && host.why !== null ? [host.why] : []
  const { sentences, remedy } = failure
  const reasons = sentences.map((sentence, depth) => (depth === 0 ? sentence : `because: ${sentence}`))
  return remedy === null ? reasons : [...reasons, `try: ${remedy}`]
}

/** Lines of the console that say that something went wrong. */
export const consoleLines = (host: HostRunReport): string[] =>
  host.console.map(({ kind, line }) => `console, ${kind}: ${line}`)
