import { errorChain, sizeText, UserError } from '../../base/runtime/index.js'
import type { CommandExit, OutputChunk, RunningCommand, RunId } from '../executor.js'
import { TargetRebooted, type Conversation } from './conversation.js'
import { ERRORS } from '../errors.js'
import { OUTPUT_LIMITS } from './output-limits.js'
import { LinkLost } from './login-shell.js'
import type { Record } from './answer-records.js'
import { attachScript, cancelScript } from './supervised-scripts.js'

/** Position of a reader in a run's two outputs, in bytes. */
export interface Position {
  stdout: number
  stderr: number
}

/** The target refused a run before its command started. */
export class RunRefused extends Error {
  override readonly name = 'RunRefused'
}

/** A command was ended because it printed more than the target stores. */
export class OutputRefused extends UserError {
  override readonly name = 'OutputRefused'

  /**
   * @param program its name; null when another session has started it
   * @param atLimit whether the limit was reached; otherwise the target had no room left
   */
  constructor(program: string | null, target: string, atLimit: boolean) {
    const who = program ?? 'the command'
    super(
      'too-much-output',
      atLimit
        ? `${who} printed more than ${sizeText(OUTPUT_LIMITS.output)} on ${target}`
        : `the output of ${who} does not fit into the memory of ${target}`,
      { remedy: ERRORS['too-much-output'].remedy },
    )
  }
}

/** The target does not know a run. */
class UnknownRun extends UserError {
  override readonly name = 'UnknownRun'

  constructor(message: string) {
    super('unknown-run', message)
  }
}

interface RunPlace {
  at?: Position
  skip?: number
  /** Completes the message `HOST has not answered for 10 minutes while ...`. */
  doing?: string
  /** Program of the command, for messages. */
  program?: string
}

/** Follows a run over lost links, from the position reached. */
export class SupervisedRun implements RunningCommand {
  readonly output: AsyncIterable<OutputChunk>
  readonly exit: Promise<CommandExit>
  readonly #conversation: Conversation
  readonly #chunks = new Chunks()
  readonly #at: Position
  readonly #doing: string
  readonly #program: string | null
  #skip: number
  #exit: CommandExit | undefined
  #refused: string | undefined
  #flood: string | undefined
  #there = (): void => {}
  #notThere = (_: unknown): void => {}
  /** Resolves when the target has the run; rejects when it does not, or its guard refused the command. */
  readonly confirmed: Promise<void>

  /**
   * @param first script that starts the run; null when the run must exist
   * @param options.at position to begin at; `skip` bytes of either stream are dropped after it
   */
  constructor(
    conversation: Conversation,
    readonly id: RunId,
    first: ((nonce: string) => string) | null,
    { at = { stdout: 0, stderr: 0 }, skip = 0, doing = `waiting for the run ${id}`, program }: RunPlace = {},
  ) {
    this.#doing = doing
    this.#program = program ?? null
    this.#conversation = conversation
    this.#at = { ...at }
    this.#skip = skip
    this.output = this.#chunks
    this.confirmed = new Promise((resolve, reject) => {
      this.#there = resolve
      this.#notThere = reject
    })
    this.confirmed.catch(() => {})
    this.exit = this.#follow(first)
    this.exit.catch(() => {})
  }

  async cancel(): Promise<void> {
    await this.#conversation.ask(
      () => cancelScript(this.id),
      (record) => record.kind === 'line' && record.tag === 'k',
    )
  }

  async #follow(first: ((nonce: string) => string) | null): Promise<CommandExit> {
    let sent = first
    let confirmed = false
    try {
      await this.#conversation.ask(
        (nonce) => (sent ? sent(nonce) : attachScript(this.id, this.#at.stdout, this.#at.stderr)),
        (record) => {
          if (record.kind === 'line' && record.tag === 'r') {
            // From now on the run is only followed, and never started again.
            sent = null
            confirmed = true
          }
          return this.#take(record)
        },
        this.#doing,
      )
    } catch (error) {
      if (!confirmed) {
        this.#notThere(error)
        throw error
      }
      this.#exit = { kind: 'unknown', why: whyUnknown(error) }
    } finally {
      this.#chunks.end()
    }
    if (this.#refused !== undefined) this.#notThere(new RunRefused(this.#refused))
    this.#there()
    if (this.#flood !== undefined)
      throw new OutputRefused(this.#program, this.#conversation.name, this.#flood === 'limit')
    return this.#exit!
  }

  /** @returns whether this was the last record */
  async #take(record: Record): Promise<boolean> {
    if (record.kind === 'output') {
      this.#there()
      this.#at[record.stream] += record.bytes.length
      const bytes = record.bytes.subarray(Math.min(this.#skip, record.bytes.length))
      this.#skip -= record.bytes.length - bytes.length
      if (bytes.length > 0) await this.#chunks.push({ stream: record.stream, bytes })
      return false
    }
    switch (record.tag) {
      case 'n':
        throw new UnknownRun(`${this.#conversation.name} does not know the run ${this.id}`)
      case 's':
        throw new Restage()
      case 'w':
        this.#refused = record.text
        return false
      case 'm':
        this.#flood = record.text
        return false
      case 'x':
        this.#exit = exitOf(Number(record.text))
        return true
      case 'g':
        this.#exit = { kind: 'unknown', why: 'its supervisor on the target was killed' }
        return true
      case 'c':
        this.#there()
        return false
      default:
        return false
    }
  }
}

/** The input file of a run is gone, and must be sent again. */
export class Restage extends Error {}

function whyUnknown(error: unknown): string {
  if (error instanceof TargetRebooted) return 'the target rebooted while it ran'
  if (error instanceof LinkLost) return 'the link to the target was lost and did not come back'
  if (error instanceof UnknownRun) return 'the target no longer knows it'
  return errorChain(error).join(': ')
}

/** Decodes a shell's exit code: 128 and the number of the signal. */
function exitOf(code: number): CommandExit {
  const signal = SIGNALS[code - 128]
  return signal === undefined ? { kind: 'exited', code } : { kind: 'signalled', signal }
}

const SIGNALS: { readonly [number: number]: string } = {
  1: 'SIGHUP',
  2: 'SIGINT',
  3: 'SIGQUIT',
  4: 'SIGILL',
  6: 'SIGABRT',
  7: 'SIGBUS',
  8: 'SIGFPE',
  9: 'SIGKILL',
  10: 'SIGUSR1',
  11: 'SIGSEGV',
  12: 'SIGUSR2',
  13: 'SIGPIPE',
  14: 'SIGALRM',
  15: 'SIGTERM',
  24: 'SIGXCPU',
}

/**
 * Queue of output between the link and its reader. A slow reader slows the link down; without a reader the oldest chunks
 * are dropped, so that the exit code still arrives.
 */
class Chunks implements AsyncIterable<OutputChunk> {
  readonly #waiting: OutputChunk[] = []
  #ended = false
  #held = 0
  #read = false
  #wake = (): void => {}
  #room = (): void => {}

  async push(chunk: OutputChunk): Promise<void> {
    this.#waiting.push(chunk)
    this.#held += chunk.bytes.length
    this.#wake()
    while (this.#held > OUTPUT_LIMITS.waiting && !this.#ended)
      if (this.#read) await new Promise<void>((resolve) => (this.#room = resolve))
      else this.#held -= this.#waiting.shift()!.bytes.length
  }

  end(): void {
    this.#ended = true
    this.#wake()
    this.#room()
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<OutputChunk> {
    this.#read = true
    try {
      for (;;) {
        const chunk = this.#waiting.shift()
        if (chunk) {
          this.#held -= chunk.bytes.length
          this.#room()
          yield chunk
        } else if (this.#ended) return
        else await new Promise<void>((resolve) => (this.#wake = resolve))
      }
    } finally {
      // A reader that stops must not block the link.
      this.#read = false
      this.#room()
    }
  }
}
