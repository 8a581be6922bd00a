import { sha256Hex } from '../../base/bytes/index.js'
import type { TargetCommand, Executor, TargetFiles, OutputChunk, RunningCommand, RunId } from '../executor.js'
import { Conversation, type ConversationOptions, type TargetFacts } from './conversation.js'
import { taggedLines, type TaggedLine } from './tagged-lines.js'
import { RUNS, startScript, forgetScript, type CellText } from './supervised-scripts.js'
import { supervisedFiles } from './supervised-files.js'
import { OutputRefused, Restage, SupervisedRun, type Position } from './supervised-run.js'
import { uploadFile, type Uploaded, type UploadOptions } from './upload.js'

/** A command as it runs on a guarded target. */
export interface PreparedCommand {
  argv: readonly [string, ...string[]]
  /** Shell text that runs in the same script right before the command; calls `refuse WHY` for one that must not run. */
  guard?: string
  /** Confines the command. */
  cell?: CellText
  /** Shell text that the supervisor runs at the end, when the exit code is stored. */
  after?: string
  /** Files with secrets for the command: the target removes them if this process does not. */
  secrets?: readonly string[]
}

export interface SupervisedOptions extends ConversationOptions {
  /** Called for every command before it is sent; throws for one that must not run. By default commands run unchanged. */
  prepare?: (command: TargetCommand) => PreparedCommand
  /** Called with every path before it is written or removed; throws for one that must not be. */
  allowPath?: (path: string) => void
  /** Shell text that runs on the target when this is closed; empty where there is nothing to end. */
  farewell?: () => string
}

/** Largest input inside the script that starts the command, in bytes; larger input is sent as a file. */
const MAX_INLINE_INPUT = 256 * 1024

/**
 * Executor for a real target, over its login shell. A supervisor on the target owns each command and spools its output and
 * exit code, so that neither is lost when the link is lost or this process is killed.
 */
export class SupervisedExecutor implements Executor, AsyncDisposable {
  readonly files: TargetFiles
  readonly #options: SupervisedOptions
  readonly #conversation: Conversation
  /** Pieces of output that this session has delivered, by run; they turn an offset into a position in both streams. */
  readonly #order = new Map<RunId, { stream: OutputChunk['stream']; length: number }[]>()
  /** Ended runs without an id of the caller, which no `attach` can name. */
  readonly #forgettable: RunId[] = []
  #forgetting: Promise<void> = Promise.resolve()
  /** Running programs that may change something, by their run. */
  readonly #changing = new Map<RunId, string>()

  constructor(options: SupervisedOptions) {
    this.#options = options
    this.#conversation = new Conversation(options)
    this.files = supervisedFiles(this.#conversation, options.allowPath ?? (() => {}))
  }

  /** Boot, user and folder of the target; the first call sends the first script. */
  facts(): Promise<TargetFacts> {
    return this.#conversation.facts()
  }

  /**
   * Runs idempotent shell text on the target at once, without a supervisor.
   *
   * @param text prints lines `X text`
   * @returns its lines, each with the letter before it as its tag
   */
  async lines(text: string): Promise<TaggedLine[]> {
    return (await taggedLines(this.#conversation, text)).slice(0, -1)
  }

  /** Copies a file of this host to the target; see {@link uploadFile}. */
  upload(options: Omit<UploadOptions, 'clock'>): Promise<Uploaded> {
    return uploadFile(this.#conversation, { ...options, clock: this.#options.clock })
  }

  async start(command: TargetCommand): Promise<RunningCommand> {
    const id = command.id === undefined ? `run-${this.#conversation.nonce()}` : safe(command.id)
    const prepared: PreparedCommand = this.#options.prepare?.(command) ?? { argv: command.argv }
    const { argv, guard = null, cell = null, after = null, secrets = [] } = prepared
    for (;;) {
      const stdin = await this.#input(command.stdin)
      const run = new SupervisedRun(
        this.#conversation,
        id,
        (nonce) => startScript({ id, argv, stdin, guard, cell, after, secrets }, nonce),
        { doing: `waiting for ${command.argv[0]}`, program: command.argv[0] },
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
   * @param offset bytes of both streams together, in the order in which this session delivered them; for a run of another
   *   session the two streams are interleaved as they are read
   */
  async attach(id: RunId, offset: number): Promise<RunningCommand> {
    const { at, rest } = this.#place(id, offset)
    const run = new SupervisedRun(this.#conversation, safe(id), null, { at, skip: rest })
    await run.confirmed
    return this.#shown(run, id)
  }

  /** Running programs that may change something; they continue on the target after this is closed. */
  async unfinished(): Promise<{ program: string; folder: string }[]> {
    if (this.#changing.size === 0) return []
    const { folder } = await this.facts()
    return [...this.#changing].map(([id, program]) => ({ program, folder: `${folder}/${RUNS}/${id}` }))
  }

  /** Removes the files of ended runs and closes the link. Running programs continue. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#forget(this.#options.farewell?.()).catch(() => {})
    this.#conversation.close()
  }

  async #input(bytes: Uint8Array | undefined) {
    if (bytes === undefined) return null
    if (bytes.length <= MAX_INLINE_INPUT) return { bytes }
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

  #shown(run: SupervisedRun, id: RunId): RunningCommand {
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
    void run.exit.then(
      (exit) => {
        // After close the result is unknown only because this session no longer reads it: the program may still run.
        if (exit.kind !== 'unknown' || !this.#conversation.closed) this.#changing.delete(run.id)
      },
      () => this.#changing.delete(run.id),
    )
  }

  #forgetAfter(run: SupervisedRun): void {
    const over = () => {
      this.#order.delete(run.id)
      this.#forgettable.push(run.id)
      if (this.#forgettable.length >= FORGET_AT) this.#forgetting = this.#forget().catch(() => {})
    }
    // A run whose output was refused has left it there.
    void run.exit.then(over, (error: unknown) => {
      if (error instanceof OutputRefused) over()
    })
  }

  async #forget(farewell = ''): Promise<void> {
    await this.#forgetting
    const ids = this.#forgettable.splice(0)
    if (ids.length === 0 && farewell === '') return
    await this.#conversation.ask(
      () => `${farewell}\n${forgetScript(ids)}`,
      (record) => record.kind === 'line' && record.tag === 'k',
    )
  }
}

const FORGET_AT = 32

/** Makes an id fit for the name of a folder and a systemd unit; a digest keeps changed ids distinct. */
function safe(id: RunId): string {
  if (/^[A-Za-z0-9][\w.-]{0,120}$/.test(id)) return id
  const digest = sha256Hex(id).slice(0, 16)
  return `${id.replaceAll(/[^\w.-]/g, '-').slice(0, 80)}.${digest}`.replace(/^[^A-Za-z0-9]/, 'r')
}
