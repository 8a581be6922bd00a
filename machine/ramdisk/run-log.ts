import type { CommandExit, CommandOutput, OutputChunk, RunningCommand } from '../../targets/index.js'

/** A run as it is stored in the state folder. */
export interface StoredRun {
  argv: readonly string[]
  /** Output in order; base64 bytes. */
  output: [stream: OutputChunk['stream'], bytes: string][]
  /** Null when it was running at the time of writing. */
  exit: CommandExit | null
}

/** A program's output and end, for all that follow the run, now or later. */
export class RunLog {
  readonly id: string
  readonly argv: readonly string[]
  /** Settled with {@link finish}. */
  readonly exit: Promise<CommandExit>
  readonly #chunks: OutputChunk[] = []
  readonly #changed: () => void
  #ended: CommandExit | undefined
  #end!: (exit: CommandExit) => void
  #waiting: (() => void)[] = []

  /** @param changed called at every change of {@link record} */
  constructor(id: string, argv: readonly string[], changed: () => void = () => {}) {
    this.id = id
    this.argv = argv
    this.#changed = changed
    this.exit = new Promise((resolve) => (this.#end = resolve))
  }

  /** Restores a run of an earlier process. One that had not ended is reported as killed. */
  static restore(id: string, record: StoredRun): RunLog {
    const log = new RunLog(id, record.argv)
    for (const [stream, bytes] of record.output) log.write(stream, Buffer.from(bytes, 'base64'))
    log.finish(record.exit ?? { kind: 'signalled', signal: 'SIGKILL' })
    return log
  }

  get ended(): CommandExit | undefined {
    return this.#ended
  }

  write(stream: OutputChunk['stream'], bytes: Uint8Array): void {
    if (this.#ended || bytes.length === 0) return
    this.#chunks.push({ stream, bytes })
    this.#wake()
  }

  /** Ends the run. Only the first call counts. */
  finish(exit: CommandExit): void {
    if (this.#ended) return
    this.#ended = exit
    this.#end(exit)
    this.#wake()
  }

  record(): StoredRun {
    return {
      argv: this.argv,
      output: this.#chunks.map(({ stream, bytes }) => [stream, Buffer.from(bytes).toString('base64')]),
      exit: this.#ended ?? null,
    }
  }

  /** Follows the run from an offset in its merged output. */
  follow(offset: number, cancel: () => Promise<void>): RunningCommand {
    const chunks = this.#from(offset)
    const output: CommandOutput =
      offset > 0 ? chunks : { [Symbol.asyncIterator]: () => chunks, whole: () => this.exit.then(() => this.#chunks) }
    return { id: this.id, output, exit: this.exit, cancel }
  }

  async *#from(offset: number): AsyncGenerator<OutputChunk> {
    let skip = offset
    for (let next = 0; ; next++) {
      while (next === this.#chunks.length) {
        if (this.#ended) return
        await new Promise<void>((resolve) => this.#waiting.push(resolve))
      }
      const chunk = this.#chunks[next]!
      if (skip < chunk.bytes.length) yield skip === 0 ? chunk : { ...chunk, bytes: chunk.bytes.subarray(skip) }
      skip = Math.max(0, skip - chunk.bytes.length)
    }
  }

  #wake(): void {
    this.#changed()
    for (const wake of this.#waiting.splice(0)) wake()
  }
}
