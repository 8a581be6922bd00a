import { appendFile, stat } from 'node:fs/promises'
import { errorChain, seconds, type Clock, type Logger } from '../../../base/runtime/index.js'
import type { ConsoleFinding } from '../pipeline/run-state.js'
import { addFinding } from './console-findings.js'

export interface CaptureOptions {
  host: string
  /** File that lines are appended to. */
  file: string
  /** Opens the console; null if the host has no console. */
  open: (signal: AbortSignal) => Promise<AsyncIterable<string> | null>
  mask: (text: string) => string
  /** Findings of the host; new ones are added. */
  findings: ConsoleFinding[]
  onFinding: (finding: ConsoleFinding) => void
  /** Milliseconds before a console that has ended is opened again; five seconds by default. */
  pause?: number
  clock: Clock
  logger: Logger
}

/** Largest file of one host's console, in bytes. */
const MAX_CAPTURE_BYTES = 64 * 2 ** 20
/** Pause before a console that has ended is opened again. */
const CONSOLE_REOPEN_DELAY = seconds(5)

/** Captures the console of a host while it is worked on: each line with its time, and the lines that show a failure. */
export class ConsoleCapture implements AsyncDisposable {
  readonly #ended = new AbortController()
  readonly #running: Promise<void>

  constructor(private readonly options: CaptureOptions) {
    this.#running = this.#run()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ended.abort(new Error('captured'))
    await this.#running
  }

  async #run(): Promise<void> {
    const { host, open, clock, logger } = this.options
    const { signal } = this.#ended
    let reported = ''
    while (!signal.aborted) {
      try {
        const lines = await open(signal)
        if (!lines) return
        await this.#store(lines, signal)
      } catch (error) {
        if (signal.aborted) return
        const why = errorChain(error).map(this.options.mask).join(': ')
        if (why !== reported) logger('warn', `the console of ${host} cannot be captured: ${why}`)
        reported = why
      }
      await clock.sleep(this.options.pause ?? CONSOLE_REOPEN_DELAY, { signal, weak: true }).catch(() => {})
    }
  }

  async #store(lines: AsyncIterable<string>, signal: AbortSignal): Promise<void> {
    const { file, clock, mask, findings, onFinding } = this.options
    let size = await stat(file).then(
      (found) => found.size,
      () => 0,
    )
    for await (const line of lines) {
      if (signal.aborted) return
      if (line.trim() === '') continue
      const shown = mask(line)
      const text = `${new Date(clock.now()).toISOString()} ${shown}\n`
      if (size < MAX_CAPTURE_BYTES) await appendFile(file, text, { mode: 0o600 })
      size += text.length
      const found = addFinding(findings, shown)
      if (found) onFinding(found)
    }
  }
}
