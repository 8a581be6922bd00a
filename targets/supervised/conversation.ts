import {
  minutes,
  seconds,
  silent as noLogger,
  UserError,
  type Clock,
  type Logger,
  type Random,
} from '../../runtime/index.js'
import { LinkLost, type LoginShell } from './login-shell.js'
import { drained, lastWords } from './output-streams.js'
import { readRecords, type Record } from './records.js'
import { GREETING, HELLO, script } from './scripts.js'
import { Silence } from './silence.js'

/** How a script reaches a shell with the rights it needs: the line for the login shell, and all of its input. */
export type Envelope = (script: Uint8Array) => Promise<{ line: string; stdin: Uint8Array }>

/** For a user who may do everything needed. */
export const PLAIN_ENVELOPE: Envelope = (bytes) => Promise.resolve({ line: 'exec /bin/sh', stdin: bytes })

export interface ConversationOptions {
  shell: LoginShell
  envelope?: Envelope
  /** Where runs are kept on the target; without, the target's own choice, `/run/ironstage` where that can be. */
  folder?: string
  /** How long a link that went is waited for, in milliseconds; ten minutes unless told otherwise. */
  patience?: number
  /** Ends every exchange with its reason, whatever it waits for. */
  signal?: AbortSignal
  clock: Clock
  random: Random
  /** Told what is waited for while the target says nothing. */
  logger?: Logger
}

/** What the target said of itself at the first word. */
export interface TargetFacts {
  /** Changes with every boot. */
  boot: string
  uid: number
  /** Where runs are kept. */
  folder: string
}

/** The target has been booted since it was first spoken to: what ran there is gone, how it ended cannot be known. */
export class TargetRebooted extends UserError {
  override readonly name = 'TargetRebooted'

  constructor(message: string) {
    super('target-rebooted', message, { remedy: 'begin again: what ran there is gone' })
  }
}

type Take = (record: Record) => boolean | Promise<boolean>

interface Attempt {
  /** What is waited for comes nearer. */
  heard: () => void
  /** The target says something, whatever it is. */
  noticed: () => void
  signal: AbortSignal
}

const PATIENCE = minutes(10)
/** Each attempt gets as long, however short the patience is. */
const LEAST_PATIENCE = seconds(30)
const PAUSES = [50, 200, 500, 1000, 2000, 5000]
/** A link that works but on which no script ever runs has another fault than a lost link. */
const SILENT_ATTEMPTS = 5
/** Bytes that a target refused so often in order are not taken the next time either. */
const REFUSED_ATTEMPTS = 3

/**
 * Talks with a target in scripts that may be sent any number of times: each is repeated until it was answered whole, over
 * any number of lost links.
 */
export class Conversation {
  readonly #options: ConversationOptions
  readonly #closing = new AbortController()
  #facts: Promise<TargetFacts> | undefined

  constructor(options: ConversationOptions) {
    this.#options = options
    const { signal } = options
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

  /** Something that no other sending has. */
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

  /** Ends every conversation that is under way; what runs on the target goes on. */
  close(): void {
    this.#closing.abort(new Error(`the connection to ${this.name} is closed`))
  }

  /**
   * Sends a script and hands over what it says until `take` is satisfied. When the link goes before that, it is made
   * anew and the script sent again, as `body` then has it.
   *
   * @param body shell text; asked for each sending, so that it can go on where it was
   * @param take gives true for the last word that is needed; what it takes its time for holds the target back
   * @param doing for people: `reading /etc/hosts`
   * @throws LinkLost when the link stayed away; TargetRebooted; UserError when scripts cannot run there
   */
  async ask(body: (nonce: string) => string, take: Take, doing = 'it was asked something'): Promise<void> {
    const { boot, folder } = await this.facts()
    await this.#repeated((nonce) => script({ nonce, boot, folder }, body(nonce)), take, doing)
  }

  /**
   * Hands bytes to a file of the user's own, which a script then takes: for more than a script should carry.
   *
   * @returns its path
   */
  async stage(bytes: Uint8Array): Promise<string> {
    await this.facts()
    const folder = await this.#userFolder()
    const path = `${folder}/staged-${this.nonce()}`
    await this.#handOver(`umask 077; cat >${path}`, bytes)
    return path
  }

  /**
   * Puts bytes in their place in a file that is there, which may be done again: a part that arrived only in part is
   * overwritten.
   *
   * @param path a file of the user's own, of letters that mean nothing to any shell
   * @param mib where they begin, in MiB
   */
  put(path: string, mib: number, bytes: Uint8Array): Promise<void> {
    if (!/^[\w./-]+$/.test(path)) throw new Error(`${path} would mean something to a shell`)
    const part = `${path}.part`
    const whole = `[ $(($(wc -c <${part}))) -eq ${bytes.length} ]`
    const place = `dd if=${part} of=${path} bs=1048576 seek=${mib} conv=notrunc 2>/dev/null`
    return this.#handOver(`umask 077; cat >${part} && ${whole} && ${place}`, bytes)
  }

  #handOver(line: string, bytes: Uint8Array): Promise<void> {
    let refused = 0
    return this.#retried(`taking ${bytes.length} bytes`, async ({ heard, signal }) => {
      const channel = await this.#options.shell.open(`sh -c '${line}'`, { stdin: bytes, signal })
      const [, complaint] = await Promise.all([drained(channel.stdout), lastWords(channel.stderr)])
      const code = await channel.exit
      if (code !== 0) {
        const why = complaint || `it ended with ${code ?? 'a signal'}`
        if (code !== null && ++refused >= REFUSED_ATTEMPTS)
          throw new UserError('target-full', `${this.name} does not take ${bytes.length} bytes`, {
            cause: new Error(why),
            remedy: 'make room there in /run and in memory',
          })
        throw new LinkLost(`handing over ${bytes.length} bytes: ${why}`)
      }
      heard()
      return true
    })
  }

  /** Before any change of rights, a user has another place than the one that scripts run as. */
  async #userFolder(): Promise<string> {
    const { envelope, folder } = this.#options
    if (!envelope) return (await this.facts()).folder
    if (folder !== undefined) return folder
    let found: string | undefined
    await this.#repeated(
      (nonce) => script({ nonce, boot: null, folder: null }, HELLO),
      (record) => record.kind === 'line' && record.letter === 'p' && !!(found = record.text),
      'it was asked for a folder',
      PLAIN_ENVELOPE,
    )
    if (found === undefined) throw new UserError('target-unusable', `the user on ${this.name} has no folder of its own`)
    return found
  }

  async #hello(): Promise<TargetFacts> {
    const said = new Map<string, string>()
    await this.#repeated(
      (nonce) => script({ nonce, boot: null, folder: this.#options.folder ?? null }, HELLO),
      (record) => {
        if (record.kind === 'line') said.set(record.letter, record.text)
        return said.has('p')
      },
      'it was asked which boot it is in',
    )
    return { boot: said.get('t')!, uid: Number(said.get('u')), folder: said.get('p')! }
  }

  async #repeated(
    make: (nonce: string) => Uint8Array,
    take: Take,
    doing: string,
    envelope: Envelope = this.#options.envelope ?? PLAIN_ENVELOPE,
  ): Promise<void> {
    let silent = 0
    await this.#retried(doing, async ({ heard: progressed, noticed, signal }) => {
      const nonce = this.nonce()
      const { line, stdin } = await envelope(make(nonce))
      const channel = await this.#options.shell.open(line, { stdin, signal })
      const complaint = lastWords(channel.stderr)
      let heard = false
      try {
        for await (const record of readRecords(noticing(channel.stdout, noticed), `${GREETING} ${nonce}`, this.name)) {
          heard = true
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
      // A shell that ended in order without a word will not do better the next time.
      if (!heard && !(ended instanceof LinkLost) && ++silent >= SILENT_ATTEMPTS)
        throw new UserError('target-shell', `the login shell of ${this.name} does not run scripts`, {
          cause: new Error((await complaint) || `it ended with ${String(ended)}`),
          remedy: 'look at what logging in there prints; /bin/sh must be there',
        })
      throw new LinkLost(`the link to ${this.name} went`, ended instanceof LinkLost ? { cause: ended } : {})
    })
  }

  #refuse({ letter, text }: { letter: string; text: string }): void {
    if (letter === 'b') throw new TargetRebooted(`${this.name} has been booted since`)
    if (letter === 'f')
      throw new UserError('target-unusable', `${this.name} cannot be worked on: ${text}`, {
        remedy: 'make room there, or make one of /run, /dev/shm and /tmp writable',
      })
  }

  /** Gives up when the link has been away for too long without a sign of life. */
  async #retried(doing: string, work: (attempt: Attempt) => Promise<true>): Promise<void> {
    const { clock, patience = PATIENCE, logger = noLogger } = this.#options
    const { signal } = this.#closing
    let since = clock.now()
    let attempt = 0
    // Also a link on which the target says nothing, but which stays, has its end.
    const expired = new AbortController()
    using silence = new Silence({
      ...{
        name: this.name,
        doing: () => doing,
        until: () => since + Math.max(patience, LEAST_PATIENCE),
        clock,
        logger,
      },
      expired: () => expired.abort(),
    })
    const noticed = () => silence.heard()
    const heard = () => {
      since = clock.now()
      attempt = 0
    }
    for (;;) {
      signal.throwIfAborted()
      try {
        await work({ heard, noticed, signal: AbortSignal.any([signal, expired.signal]) })
        return
      } catch (error) {
        signal.throwIfAborted()
        if (expired.signal.aborted || (error instanceof LinkLost && clock.now() >= since + patience))
          throw new LinkLost(`${this.name} has not answered for ${durationText(patience)} while ${doing}`, {
            cause: error,
          })
        if (!(error instanceof LinkLost)) throw error
      }
      await clock.sleep(PAUSES[Math.min(attempt++, PAUSES.length - 1)]!, { signal })
    }
  }
}

async function* noticing(stream: AsyncIterable<Uint8Array>, noticed: () => void): AsyncGenerator<Uint8Array> {
  for await (const bytes of stream) {
    noticed()
    yield bytes
  }
}

const durationText = (ms: number): string =>
  ms >= minutes(2) ? `${Math.round(ms / minutes(1))} minutes` : `${Math.round(ms / 1000)} s`
