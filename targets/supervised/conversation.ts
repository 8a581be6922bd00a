import {
  minutes,
  seconds,
  silent as noLogger,
  UserError,
  type Clock,
  type Logger,
  type Random,
} from '../../base/runtime/index.js'
import { LinkLost, PLAIN_SHELL, type LoginShell } from './login-shell.js'
import { drainStream, lastWords } from './output-streams.js'
import { readRecords, type Record } from './answer-records.js'
import { GREETING, HELLO, RUNS, wrapScript } from './supervised-scripts.js'
import { Silence } from './silence.js'
import { ERRORS } from '../errors.js'

/** Wraps a script so that it runs with the needed rights: the line for the login shell, and its whole input. */
export type Envelope = (script: Uint8Array) => Promise<{ line: string; stdin: Uint8Array }>

/** Envelope for a user who already has the needed rights. */
const PLAIN_ENVELOPE: Envelope = (bytes) => Promise.resolve({ line: PLAIN_SHELL, stdin: bytes })

export interface ConversationOptions {
  shell: LoginShell
  envelope?: Envelope
  /** Answer to the first script where another conversation with the target has it already. */
  facts?: TargetFacts
  /** Folder of runs on the target; by default the first that the target can write, `/run/ironstage` if possible. */
  folder?: string
  /** Wait for a lost link, in milliseconds; ten minutes by default. */
  timeout?: number
  /** Aborts every exchange with its reason. */
  signal?: AbortSignal
  clock: Clock
  random: Random
  /** Gets a message while the target is silent. */
  logger?: Logger
}

/** Answer of the target to the first script. */
export interface TargetFacts {
  /** Changes with every boot. */
  boot: string
  uid: number
  /** Folder of the runs. */
  folder: string
}

/** The target rebooted since the first script: its runs are gone, and so are their results. */
export class TargetRebooted extends UserError {
  override readonly name = 'TargetRebooted'

  constructor(message: string) {
    super('target-rebooted', message, { remedy: ERRORS['target-rebooted'].remedy })
  }
}

/** Takes one record of an answer; returns true for the last that is needed. */
type Take = (record: Record) => boolean | Promise<boolean>

interface ConversationAttempt {
  /** Called on progress of the work; resets the wait for a lost link. */
  progressed: () => void
  /** Called on any bytes from the target. */
  received: () => void
  signal: AbortSignal
}

const LOST_LINK_TIMEOUT = minutes(10)
/** Least time of an attempt, even when the timeout is shorter. */
const MIN_ATTEMPT_TIME = seconds(30)
const ATTEMPT_RETRY_DELAYS = [50, 200, 500, 1000, 2000, 5000]
/** Attempts without an answer on a working link until the shell, not the link, counts as the fault. */
const MAX_SILENT_ATTEMPTS = 5
/** Failed writes on a working link until the target counts as full. */
const MAX_REFUSED_ATTEMPTS = 3

/**
 * Sends scripts to a target and reads their answers. Scripts are idempotent: each is sent again, over any number of lost
 * links, until it is answered completely.
 */
export class Conversation {
  readonly #options: ConversationOptions
  readonly #closing = new AbortController()
  #facts: Promise<TargetFacts> | undefined

  constructor(options: ConversationOptions) {
    this.#options = options
    const { signal, facts } = options
    if (facts) this.#facts = Promise.resolve(facts)
    const close = () => this.#closing.abort(signal!.reason)
    if (signal?.aborted) close()
    else signal?.addEventListener('abort', close, { once: true, signal: this.#closing.signal })
  }

  get clock(): Clock {
    return this.#options.clock
  }

  get name(): string {
    return this.#options.shell.name
  }

  get closed(): boolean {
    return this.#closing.signal.aborted
  }

  /** A new random word. */
  nonce(): string {
    return Buffer.from(this.#options.random.bytes(8)).toString('hex')
  }

  facts(): Promise<TargetFacts> {
    if (!this.#facts) {
      this.#facts = this.#hello()
      this.#facts.catch(() => (this.#facts = undefined))
    }
    return this.#facts
  }

  /** Ends all exchanges; programs on the target continue. */
  close(): void {
    this.#closing.abort(new Error(`the connection to ${this.name} is closed`))
  }

  /**
   * Sends a script and passes its answer to `take`. When the link is lost before `take` returns true, connects again and
   * sends what `body` then returns.
   *
   * @param body shell text; called for each attempt, so that it can continue where the last one stopped
   * @param take returns true for the last record that is needed; the target waits while its promise is pending
   * @param doing completes the message `HOST has not answered for 10 minutes while ...`
   * @throws LinkLost when the link does not come back; TargetRebooted; UserError when scripts cannot run there
   */
  async ask(body: (nonce: string) => string, take: Take, doing = 'running a script'): Promise<void> {
    const { boot, folder } = await this.facts()
    await this.#repeated((nonce) => wrapScript({ nonce, boot, folder }, body(nonce)), take, doing)
  }

  /**
   * Writes bytes to a temporary file of the user, for a script that takes more input than its text should hold.
   *
   * @returns the path of the file
   */
  async stage(bytes: Uint8Array): Promise<string> {
    await this.facts()
    const folder = await this.#userFolder()
    const path = `${folder}/${RUNS}/.new/staged-${this.nonce()}`
    await this.#handOver(`umask 077; cat >${path}`, bytes)
    return path
  }

  /**
   * Writes bytes at an offset of an existing file. Idempotent: another attempt overwrites an incomplete part.
   *
   * @param path a file of the user, without characters that are special to a shell
   * @param mib offset, in MiB
   */
  put(path: string, mib: number, bytes: Uint8Array): Promise<void> {
    if (!/^[\w./-]+$/.test(path)) throw new Error(`${path} has characters that are special to a shell`)
    const part = `${path}.part`
    const whole = `[ $(($(wc -c <${part}))) -eq ${bytes.length} ]`
    const place = `dd if=${part} of=${path} bs=1048576 seek=${mib} conv=notrunc 2>/dev/null`
    return this.#handOver(`umask 077; cat >${part} && ${whole} && ${place}`, bytes)
  }

  #handOver(line: string, bytes: Uint8Array): Promise<void> {
    let refused = 0
    return this.#retried(`receiving ${bytes.length} bytes`, async ({ progressed, signal }) => {
      const channel = await this.#options.shell.open(`sh -c '${line}'`, { stdin: bytes, signal })
      const [, complaint] = await Promise.all([drainStream(channel.stdout), lastWords(channel.stderr)])
      const code = await channel.exit
      if (code !== 0) {
        const why = complaint || `it ended with ${code ?? 'a signal'}`
        if (code !== null && ++refused >= MAX_REFUSED_ATTEMPTS)
          throw new UserError('target-full', `${this.name} cannot store ${bytes.length} bytes`, {
            cause: new Error(why),
            remedy: 'free space in /run and in memory',
          })
        throw new LinkLost(`sending ${bytes.length} bytes: ${why}`)
      }
      progressed()
      return true
    })
  }

  /** Folder of the login user, who may be another than the one that scripts run as (sudo). */
  async #userFolder(): Promise<string> {
    const { envelope, folder } = this.#options
    if (!envelope) return (await this.facts()).folder
    if (folder !== undefined) return folder
    let found: string | undefined
    await this.#repeated(
      (nonce) => wrapScript({ nonce, boot: null, folder: null }, HELLO),
      (record) => record.kind === 'line' && record.tag === 'p' && !!(found = record.text),
      'looking for a folder for files',
      PLAIN_ENVELOPE,
    )
    if (found === undefined) throw new UserError('target-unusable', `the user on ${this.name} has no home folder`)
    return found
  }

  async #hello(): Promise<TargetFacts> {
    const facts = new Map<string, string>()
    await this.#repeated(
      (nonce) => wrapScript({ nonce, boot: null, folder: this.#options.folder ?? null }, HELLO),
      (record) => {
        if (record.kind === 'line') facts.set(record.tag, record.text)
        return facts.has('p')
      },
      'reading its boot id',
    )
    return { boot: facts.get('t')!, uid: Number(facts.get('u')), folder: facts.get('p')! }
  }

  async #repeated(
    make: (nonce: string) => Uint8Array,
    take: Take,
    doing: string,
    envelope: Envelope = this.#options.envelope ?? PLAIN_ENVELOPE,
  ): Promise<void> {
    let silent = 0
    await this.#retried(doing, async ({ progressed, received, signal }) => {
      const nonce = this.nonce()
      const { line, stdin } = await envelope(make(nonce))
      const channel = await this.#options.shell.open(line, { stdin, signal })
      const complaint = lastWords(channel.stderr)
      let answered = false
      try {
        for await (const record of readRecords(watched(channel.stdout, received), `${GREETING} ${nonce}`, this.name)) {
          answered = true
          silent = 0
          progressed()
          if (record.kind === 'line') this.#refuse(record)
          if (await take(record)) return true
        }
      } finally {
        channel.cut()
        channel.exit.catch(() => {})
      }
      const ended = await channel.exit.catch((error: unknown) => error)
      // A shell that ended normally without an answer will hardly answer the next time.
      if (!answered && !(ended instanceof LinkLost) && ++silent >= MAX_SILENT_ATTEMPTS)
        throw new UserError('target-shell', `the login shell of ${this.name} does not run scripts`, {
          cause: new Error((await complaint) || `it ended with ${String(ended)}`),
          remedy: 'check what a login prints there; /bin/sh must exist',
        })
      throw new LinkLost(`the link to ${this.name} is lost`, ended instanceof LinkLost ? { cause: ended } : {})
    })
  }

  #refuse({ tag, text }: { tag: string; text: string }): void {
    if (tag === 'b') throw new TargetRebooted(`${this.name} has rebooted since`)
    if (tag === 'P') throw foreignProc(this.name, text)
    if (tag === 'f')
      throw new UserError('target-unusable', `${this.name} cannot be used: ${text}`, {
        remedy: 'free space there, or make one of /run, /dev/shm and /tmp writable',
      })
  }

  /** Repeats the work while the link is lost; gives up when nothing has come for longer than the timeout. */
  async #retried(doing: string, work: (attempt: ConversationAttempt) => Promise<true>): Promise<void> {
    const { clock, timeout = LOST_LINK_TIMEOUT, logger = noLogger } = this.#options
    const { signal } = this.#closing
    let since = clock.now()
    let attempt = 0
    // Also ends the wait on a link that stays up but brings nothing.
    const expired = new AbortController()
    using silence = new Silence({
      name: this.name,
      doing: () => doing,
      until: () => since + Math.max(timeout, MIN_ATTEMPT_TIME),
      clock,
      logger,
      expired: () => expired.abort(),
    })
    const received = () => silence.heard()
    const progressed = () => {
      since = clock.now()
      attempt = 0
    }
    for (;;) {
      signal.throwIfAborted()
      try {
        await work({ progressed, received, signal: AbortSignal.any([signal, expired.signal]) })
        return
      } catch (error) {
        signal.throwIfAborted()
        if (expired.signal.aborted || (error instanceof LinkLost && clock.now() >= since + timeout))
          throw new LinkLost(`${this.name} has not answered for ${waitText(timeout)} while ${doing}`, {
            cause: error,
          })
        if (!(error instanceof LinkLost)) throw error
      }
      await clock.sleep(ATTEMPT_RETRY_DELAYS[Math.min(attempt++, ATTEMPT_RETRY_DELAYS.length - 1)]!, { signal })
    }
  }
}

/** @param pid number of the shell as that /proc has it; `none` where there is no /proc */
const foreignProc = (name: string, pid: string): UserError =>
  new UserError(
    'foreign-proc',
    pid === 'none'
      ? `${name} cannot be used: /proc does not show its own processes`
      : `${name} cannot be used: /proc shows the processes of another PID namespace, so a command that runs looks as if it had ended`,
    { remedy: ERRORS['foreign-proc'].remedy },
  )

async function* watched(stream: AsyncIterable<Uint8Array>, received: () => void): AsyncGenerator<Uint8Array> {
  for await (const bytes of stream) {
    received()
    yield bytes
  }
}

/** Duration of the wait for a host, for sentences. */
export const waitText = (ms: number): string =>
  ms >= minutes(2) ? `${Math.round(ms / minutes(1))} minutes` : `${Math.round(ms / 1000)} s`
