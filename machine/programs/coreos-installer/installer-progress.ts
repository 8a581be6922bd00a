import type { Clock } from '../../../base/runtime/index.js'

/** A size with one decimal in the largest unit that gives at least 1. */
export function formatBytes(bytes: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB']
  const unit = Math.min(units.length - 1, Math.max(0, Math.floor(Math.log2(Math.max(1, bytes)) / 10)))
  return unit === 0 ? `${bytes} B` : `${(bytes / 1024 ** unit).toFixed(1)} ${units[unit]}`
}

/**
 * Prints the progress of reading an image: after a read when a second has passed since the last line, and after every
 * read at the end, so that the last line is repeated (recorded).
 */
export class ProgressMeter {
  readonly #clock: Clock
  readonly #length: number | undefined
  readonly #tty: boolean
  readonly #print: (text: string) => void
  #last: number

  constructor(options: { clock: Clock; length: number | undefined; tty: boolean; print: (text: string) => void }) {
    this.#clock = options.clock
    // A length of 0 has no percentage (seen).
    this.#length = options.length || undefined
    this.#tty = options.tty
    this.#print = options.print
    this.#last = options.clock.elapsed()
  }

  seen(position: number): void {
    const now = this.#clock.elapsed()
    if (now - this.#last < 1000 && position !== this.#length) return
    this.#last = now
    const text =
      this.#length === undefined
        ? `Read disk ${formatBytes(position)}`
        : `Read disk ${formatBytes(position)}/${formatBytes(this.#length)} (${Math.floor((position * 100) / Math.max(1, this.#length))}%)`
    this.#print(this.#tty ? `> ${text}   \r` : `${text}\n`)
  }

  /** Ends the line on a terminal, also when none was shown (seen). */
  end(): void {
    if (this.#tty) this.#print('\n')
  }
}
