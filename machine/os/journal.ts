import { jsonInOnePiece } from '../../runtime/index.js'

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
const MOST_LINES = 1500
/** Number of lines that are stored as one text, which takes a third of the memory. */
const BLOCK = 25

/** The last lines that were written. */
export class Journal {
  /** Older lines, {@link BLOCK} a text, as JSON. */
  #blocks: string[] = []
  #last: JournalLine[] = []

  constructor(lines: readonly JournalLine[] = []) {
    for (const line of lines) this.add(line)
  }

  get lines(): readonly JournalLine[] {
    const all = [...this.#blocks.flatMap((text) => JSON.parse(text) as JournalLine[]), ...this.#last]
    return all.slice(-MOST_LINES)
  }

  add(line: JournalLine): void {
    this.#last.push(line)
    if (this.#last.length < BLOCK) return
    this.#blocks.push(jsonInOnePiece(this.#last))
    this.#last = []
    if (this.#blocks.length > MOST_LINES / BLOCK) this.#blocks.shift()
  }
}
