import { seconds } from '../../../base/runtime/index.js'
import { maskedUrl } from '../../../base/bytes/index.js'

/** Milliseconds after which a first boot counts as one that waits, and between two reports of it. */
const FIRST_WAIT_REPORT = seconds(10)
const WAIT_REPORT_INTERVAL = seconds(30)

interface SystemLine {
  from: string
  message: string
}

/**
 * Tells a first boot's wait by the journal of its system: the server that Ignition asks and its last answer, or else the
 * last line that Ignition wrote. Null without any.
 */
export function waitsFor(journal: readonly SystemLine[]): string | null {
  const messages = journal.filter(({ from }) => from.startsWith('ignition')).map(({ message }) => message)
  const last = messages.at(-1)
  if (last === undefined) return null
  const asked = messages.findLast((message) => ATTEMPT.test(message))
  if (asked === undefined || !isOfRequest(last)) return last
  const [, url = '', attempt] = ATTEMPT.exec(asked) ?? []
  const answer = messages.map(answerIn).findLast((text) => text !== undefined)
  return `Ignition asks ${maskedUrl(url)} (attempt ${attempt}${answer === undefined ? '' : `; the last answer: ${answer}`})`
}

const ATTEMPT = /\bGET (\S+): attempt #(\d+)$/
const ANSWER = /\bGET (?:error: Get ".*?": |result: )(.*)$/

const answerIn = (message: string): string | undefined => ANSWER.exec(message)?.[1]
const isOfRequest = (message: string): boolean => ATTEMPT.test(message) || ANSWER.test(message)

/** Says when a wait is to be reported: after ten seconds, and then every half minute. */
export class WaitReports {
  readonly #begun: number
  #next: number

  /** @param now milliseconds */
  constructor(now: number) {
    this.#begun = now
    this.#next = now + FIRST_WAIT_REPORT
  }

  /** Seconds that it has waited, when a report is due. */
  due(now: number): number | null {
    if (now < this.#next) return null
    this.#next = now + WAIT_REPORT_INTERVAL
    return Math.floor((now - this.#begun) / 1000)
  }
}
