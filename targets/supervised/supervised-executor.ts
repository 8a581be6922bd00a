import { createHash } from 'node:crypto'
import type { Command, Executor, Files, OutputChunk, Run, RunId } from '../executor.js'
import { Conversation, type ConversationOptions, type TargetFacts } from './conversation.js'
import { linesOf } from './lines-of.js'
import { startScript, forgetScript, type CellText } from './scripts.js'
import { supervisedFiles } from './supervised-files.js'
import { Restage, SupervisedRun, type Position } from './supervised-run.js'
import { upload, type Uploaded, type UploadOptions } from './upload.js'

/** A command as it is run on a target that has rules of its own. */
export interface PreparedCommand {
  argv: readonly [string, ...string[]]
  /** Shell text that runs in the same script right before the command; it says `refuse WHY` where that must not be. */
  guard?: string
  /** What confines it. */
  cell?: CellText
  /** Files with secrets that it is given: the target removes them if nobody else does. */
  secrets?: readonly string[]
}

export interface SupervisedOptions extends ConversationOptions {
  /** Told every command before it is sent; throws for one that must not run. Commands are run as given without it. */
  prepare?: (command: Command) => PreparedCommand
  /** Told every path before it is written or removed; throws where that must not be. */
  allowPath?: (path: string) => void
}

/** More than this is handed over apart from the script that starts the command. */
const INLINE = 256 * 1024

/**
 * Commands and files of a real target, over its login shell. Every command is owned by a supervisor on the target, which
 * spools what it prints and how it ended: a link that goes, or an ironstage that is killed, loses neither.
 */
export class SupervisedExecutor implements Executor, AsyncDisposable {
  readonly files: Files
  readonly #options: SupervisedOptions
  readonly #conversation: Conversation
  /** What was handed out of each run of this session, to find a place in it again. */
  readonly #order = new Map<RunId, { stream: OutputChunk['stream']; length: number }[]>()
  /** Runs that nobody will ask for again. */
  readonly #forgettable: RunId[] = []
  #forgetting: Promise<void> = Promise.resolve()
  /** Programs under way that may change something, by their run. */
  readonly #changing = new Map<RunId, string>()

  constructor(options: SupervisedOptions) {
    this.#options = options
    this.#conversation = new Conversation(options)
    this.files = supervisedFiles(this.#conversation, options.allowPath ?? (() => {}))
  }

  /** What the target is; the first word that is exchanged. */
  facts(): Promise<TargetFacts> {
    return this.#conversation.facts()
  }

  /**
   * Runs shell text on the target at once, without a supervisor: for questions that may be asked again.
   *
   * @param text prints lines `X text` and records as {@link readRecords} reads them
   * @returns its lines by their first letter
   */
  async lines(text: string): Promise<{ letter: string; text: string }[]> {
    return (await linesOf(this.#conversation, text)).slice(0, -1)
  }

  /** Brings a file of this host to the target; see {@link upload}. */
  upload(options: Omit<UploadOptions, 'clock'>): Promise<Uploaded> {
    return upload(this.#conversation, { ...options, clock: this.#options.clock })
  }

  async start(command: Command): Promise<Run> {
    const id = command.id === undefined ? `run-${this.#conversation.nonce()}` : safe(command.id)
    const prepared: PreparedCommand = this.#options.prepare?.(command) ?? { argv: command.argv }
    const { argv, guard = null, cell = null, secrets = [] } = prepared
    for (;;) {
      const stdin = await this.#input(command.stdin)
      const run = new SupervisedRun(
        this.#conversation,
        id,
        (nonce) => startScript({ id, argv, stdin, guard, cell, secrets }, nonce),
        { doing: `${command.argv[0]} is awaited` },
      )
      if (command.id === undefined) this.#forgetAfter(run)
      try {
        await run.confirmed
      } catch (error) {
        if (error instanceof Restage) continue
        throw error
      }
      if (command.effect === 'writes') this.#watch(run, command.argv[0])
      return this.#shown(run, command.id ?? id)
    }
  }

  /**
   * @param offset bytes of what both streams printed, in the order in which this session handed them out; for a run that
   *   another session started, standard error comes as it is found beside standard output
   */
  async attach(id: RunId, offset: number): Promise<Run> {
    const { at, rest } = this.#place(id, offset)
    const run = new SupervisedRun(this.#conversation, safe(id), null, { at, skip: rest })
    await run.confirmed
    return this.#shown(run, id)
  }

  /** What goes on by itself on the target when this is closed now: programs that may change something. */
  async unfinished(): Promise<{ program: string; folder: string }[]> {
    if (this.#changing.size === 0) return []
    const { folder } = await this.facts()
    return [...this.#changing].map(([id, program]) => ({ program, folder: `${folder}/${id}` }))
  }

  /** Takes away what is left of finished runs and closes the link. What still runs goes on. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#forget().catch(() => {})
    this.#conversation.close()
  }

  async #input(bytes: Uint8Array | undefined) {
    if (bytes === undefined) return null
    if (bytes.length <= INLINE) return { bytes }
    return { staged: await this.#conversation.stage(bytes), length: bytes.length }
  }

  #place(id: RunId, offset: number): { at: Position; rest: number } {
    const at = { stdout: 0, stderr: 0 }
    let rest = offset
    for (const { stream, length } of this.#order.get(id) ?? []) {
      const part = Math.min(length, rest)
      at[stream] += part
      rest -= part
    }
    return { at, rest }
  }

  #shown(run: SupervisedRun, id: RunId): Run {
    const order = this.#order
    const output = async function* (): AsyncGenerator<OutputChunk> {
      const parts: { stream: OutputChunk['stream']; length: number }[] = []
      if (!order.has(id)) order.set(id, parts)
      for await (const chunk of run.output) {
        const last = parts.at(-1)
        if (last?.stream === chunk.stream) last.length += chunk.bytes.length
        else parts.push({ stream: chunk.stream, length: chunk.bytes.length })
        yield chunk
      }
    }
    return { id, target: this.#conversation.name, output: output(), exit: run.exit, cancel: () => run.cancel() }
  }

  #watch(run: SupervisedRun, program: string): void {
    this.#changing.set(run.id, program)
    void run.exit
      .then((exit) => {
        // Nothing is known of it only since nobody listens any more.
        if (exit.kind !== 'unknown' || !this.#conversation.closed) this.#changing.delete(run.id)
      })
      .catch(() => {})
  }

  #forgetAfter(run: SupervisedRun): void {
    void run.exit
      .then(() => {
        this.#order.delete(run.id)
        this.#forgettable.push(run.id)
        if (this.#forgettable.length >= FORGET_AT) this.#forgetting = this.#forget().catch(() => {})
      })
      .catch(() => {})
  }

  async #forget(): Promise<void> {
    await this.#forgetting
    const ids = this.#forgettable.splice(0)
    if (ids.length === 0) return
    await this.#conversation.ask(
      () => forgetScript(ids),
      (record) => record.kind === 'line' && record.letter === 'k',
    )
  }
}

const FORGET_AT = 32

/** An id names a folder and a unit: what could mean something there is replaced, and told apart by a digest. */
function safe(id: RunId): string {
  if (/^[A-Za-z0-9][\w.-]{0,120}$/.test(id)) return id
  const digest = createHash('sha256').update(id).digest('hex').slice(0, 16)
  return `${id.replaceAll(/[^\w.-]/g, '-').slice(0, 80)}.${digest}`.replace(/^[^A-Za-z0-9]/, 'r')
}
