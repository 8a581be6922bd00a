import { shareText } from '../../base/runtime/index.js'

/** A line of a machine's journal. */
export interface JournalLine {
  /** Milliseconds since the epoch, in lab time. */
  at: number
  /** The writer as journalctl shows it: `ignition[712]`, `systemd[1]`. */
  from: string
  priority: 'crit' | 'err' | 'warning' | 'notice' | 'info' | 'debug'
  message: string
}

/** Limit on the lines of a journal. */
const MAX_JOURNAL_LINES = 1500

/** The last lines that were written: thousands of machines that boot the same way have most of their texts in common. */
export class Journal {
  // A list for each column takes a third of what objects take.
  readonly #at: number[] = []
  readonly #from: string[] = []
  readonly #priority: JournalLine['priority'][] = []
  readonly #message: string[] = []

  constructor(lines: readonly JournalLine[] = []) {
    for (const line of lines) this.add(line)
  }

  get lines(): readonly JournalLine[] {
    return this.#at.map((at, n) => ({
      at,
      from: this.#from[n]!,
      priority: this.#priority[n]!,
      message: this.#message[n]!,
    }))
  }

  add({ at, from, priority, message }: JournalLine): void {
    this.#at.push(at)
    this.#from.push(shareText(from))
    this.#priority.push(priority)
    this.#message.push(shareText(message))
    if (this.#at.length <= MAX_JOURNAL_LINES) return
    for (const column of [this.#at, this.#from, this.#priority, this.#message]) column.shift()
  }
}
