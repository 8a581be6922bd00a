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

/** The sentences of a failure from the outermost to its cause, and the remedy; the reason why a host was not begun. */
export function chainOf(host: HostRunReport): string[] {
  const failure = failureOf(host)
  if (failure) return [...failure.sentences, ...remedyLines(failure)]
  return host.outcome === 'skipped' && host.why !== null ? [host.why] : []
}

/** {@link chainOf} as lines of a text: each sentence after the first says that it is a reason. */
export function failureLines(host: HostRunReport): string[] {
  const failure = failureOf(host)
  if (!failure) return chainOf(host)
  const sentences = failure.sentences.map((sentence, depth) => (depth === 0 ? sentence : `because: ${sentence}`))
  return [...sentences, ...remedyLines(failure)]
}

const remedyLines = ({ remedy }: FailedStage): string[] => (remedy === null ? [] : [`try: ${remedy}`])

/** Lines of the console that say that something went wrong. */
export const consoleLines = (host: HostRunReport): string[] =>
  host.console.map(({ kind, line }) => `console, ${kind}: ${line}`)
