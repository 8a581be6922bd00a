import { seconds, type Clock } from '../../base/runtime/index.js'
import type { CommandExit, Executor, OutputChunk, RunningCommand, TargetCommand } from '../executor.js'
import { mountPointUse } from './mount-points.js'

/** Time for which an answer is given again, even if nothing seems to have changed. */
const LONGEST = seconds(5)
/** Time for which the target is not asked again whether a device had an event: several questions come at once. */
const RECENT = 250
/** Longest answer that is stored, in bytes. */
const MAX_ANSWER = 2 ** 20

interface StoredAnswer {
  generation: string
  at: number
  id: string
  chunks: readonly OutputChunk[]
  exit: CommandExit
}

export interface AskedOnceOptions {
  /** Word that changes with every event of a device; null where none can be told. */
  generation: () => Promise<string | null>
  clock: Clock
}

/** Shell text that prints `s NUMBER`, where udevd runs: only then an event follows every write to a device. */
export const GENERATION_SCRIPT = `[ ! -S /run/udev/control ] || ! read -r n </sys/kernel/uevent_seqnum || printf 's %s\\n' "$n"`

/**
 * An executor that lists devices once for several who ask: `lsblk` and `udevadm` are answered again from the last answer while
 * no device had an event and no command has written.
 */
export function askingOnce(executor: Executor, options: AskedOnceOptions): Executor {
  const answers = new Answers(executor, options)
  return {
    files: executor.files,
    attach: (id, offset) => executor.attach(id, offset),
    start: (command) => answers.start(command),
  }
}

class Answers {
  readonly #executor: Executor
  readonly #options: AskedOnceOptions
  readonly #stored = new Map<string, StoredAnswer>()
  /** Commands under way that may write. */
  #writing = 0
  #known: { generation: string | null; at: number } | null = null

  constructor(executor: Executor, options: AskedOnceOptions) {
    this.#executor = executor
    this.#options = options
  }

  async start(command: TargetCommand): Promise<RunningCommand> {
    if (!isListing(command)) return mayChange(command) ? this.#change(command) : this.#executor.start(command)
    const question = JSON.stringify(command.argv)
    const stored = this.#stored.get(question)
    const generation = await this.#generation(stored !== undefined)
    if (generation === null) return this.#executor.start(command)
    const now = this.#options.clock.now()
    if (stored?.generation === generation && now - stored.at < LONGEST && this.#writing === 0) return repeated(stored)
    const run = await this.#executor.start(command)
    return this.#storing(run, question, generation, now)
  }

  /**
   * An older generation than the present one is good enough to store an answer with, which is then not given again.
   *
   * @param present true if the target is asked
   */
  async #generation(present: boolean): Promise<string | null> {
    const { clock, generation } = this.#options
    const known = this.#known
    const at = clock.now()
    if (known && (!present || at - known.at < RECENT)) return known.generation
    const found = await generation()
    this.#known = { generation: found, at }
    return found
  }

  async #change(command: TargetCommand): Promise<RunningCommand> {
    this.#clear()
    this.#writing++
    const over = () => {
      this.#writing--
      this.#clear()
    }
    try {
      const run = await this.#executor.start(command)
      void run.exit.then(over, over)
      return run
    } catch (error) {
      over()
      throw error
    }
  }

  #clear(): void {
    this.#stored.clear()
    this.#known = null
  }

  /** Stores the answer once it was read to its end. */
  #storing(run: RunningCommand, question: string, generation: string, at: number): RunningCommand {
    const { id, exit } = run
    const stored = this.#stored
    const isWriting = () => this.#writing > 0
    const wasWriting = isWriting()
    const output = async function* (): AsyncGenerator<OutputChunk> {
      const chunks: OutputChunk[] = []
      let length = 0
      for await (const chunk of run.output) {
        length += chunk.bytes.length
        if (length <= MAX_ANSWER) chunks.push(chunk)
        yield chunk
      }
      // It rejects for its own readers.
      const ended = await exit.catch(() => null)
      if (ended?.kind !== 'exited' || ended.code !== 0 || length > MAX_ANSWER) return
      if (!wasWriting && !isWriting()) stored.set(question, { generation, at, id, chunks, exit: ended })
    }
    return { ...run, output: output() }
  }
}

const isListing = ({ argv, effect, id, stdin, tty = false }: TargetCommand): boolean =>
  effect === 'reads' &&
  id === undefined &&
  stdin === undefined &&
  !tty &&
  (argv[0] === 'lsblk' || (argv[0] === 'udevadm' && (argv[1] === 'settle' || argv[1] === 'info')))

const mayChange = ({ argv, effect }: TargetCommand): boolean => effect === 'writes' || mountPointUse(argv) !== null

function repeated({ id, chunks, exit }: StoredAnswer): RunningCommand {
  const output = async function* (): AsyncGenerator<OutputChunk> {
    yield* chunks
  }
  return { id, output: output(), exit: Promise.resolve(exit), cancel: () => Promise.resolve() }
}
