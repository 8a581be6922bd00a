import { minutes, UserError, type Clock, type Random } from '../../../runtime/index.js'
import { LinkLost, type LoginShell } from './login-shell.js'
import { readRecords, type Record } from './records.js'
import { GREETING, HELLO, script } from './scripts.js'

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
export class TargetRebooted extends Error {
  override readonly name = 'TargetRebooted'
}

const PATIENCE = minutes(10)
const PAUSES = [50, 200, 500, 1000, 2000, 5000]
/** A link that works but on which no script ever runs has another fault than a lost link. */
const SILENT_ATTEMPTS = 5

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
   * @param take gives true for the last word that is needed
   * @throws LinkLost when the link stayed away; TargetRebooted; UserError when scripts cannot run there
   */
  async ask(body: (nonce: string) => string, take: (record: Record) => boolean): Promise<void> {
    const { boot, folder } = await this.facts()
    await this.#repeated((nonce) => script({ nonce, boot, folder }, body(nonce)), take)
  }

  /**
   * Hands bytes to a file of the user's own, which a script then takes: for more than a script should carry.
   *
   * @returns its path
   */
  async stage(bytes: Uint8Array): Promise<string> {
    const { uid } = await this.facts()
    const folder = await this.#userFolder(uid)
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
    return this.#retried(async (heard) => {
      const { signal } = this.#closing
      const channel = await this.#options.shell.open(`sh -c '${line}'`, { stdin: bytes, signal })
      await Promise.all([drained(channel.stdout), drained(channel.stderr)])
      const code = await channel.exit
      if (code === 0) heard()
      else throw new LinkLost(`handing over ${bytes.length} bytes ended with ${code ?? 'a signal'}`)
      return true
    })
  }

  /** Before any change of rights, a user has another place than the one that scripts run as. */
  async #userFolder(uid: number): Promise<string> {
    const { envelope, folder } = this.#options
    if (!envelope) return (await this.facts()).folder
    if (folder !== undefined) return folder
    let found: string | undefined
    await this.#repeated(
      (nonce) => script({ nonce, boot: null, folder: null }, HELLO),
      (record) => record.kind === 'line' && record.letter === 'p' && !!(found = record.text),
      PLAIN_ENVELOPE,
    )
    if (found === undefined) throw new Error(`the user on ${this.name} (beside uid ${uid}) has no folder`)
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
    )
    return { boot: said.get('t')!, uid: Number(said.get('u')), folder: said.get('p')! }
  }

  async #repeated(
    make: (nonce: string) => Uint8Array,
    take: (record: Record) => boolean,
    envelope: Envelope = this.#options.envelope ?? PLAIN_ENVELOPE,
  ): Promise<void> {
    let silent = 0
    await this.#retried(async (progressed) => {
      const nonce = this.nonce()
      const { signal } = this.#closing
      const { line, stdin } = await envelope(make(nonce))
      const channel = await this.#options.shell.open(line, { stdin, signal })
      const complaint = lastWords(channel.stderr)
      let heard = false
      try {
        for await (const record of readRecords(channel.stdout, `${GREETING} ${nonce}`)) {
          heard = true
          silent = 0
          progressed()
          if (record.kind === 'line') this.#refuse(record)
          if (take(record)) return true
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
    if (letter === 'f') throw new UserError('target-unusable', `${this.name} cannot be worked on: ${text}`)
  }

  /** Gives up when the link has been away for too long without a sign of life. */
  async #retried(work: (heard: () => void) => Promise<true>): Promise<void> {
    const { clock, patience = PATIENCE } = this.#options
    const { signal } = this.#closing
    let since = clock.now()
    let attempt = 0
    const heard = () => {
      since = clock.now()
      attempt = 0
    }
    for (;;) {
      signal.throwIfAborted()
      try {
        await work(heard)
        return
      } catch (error) {
        signal.throwIfAborted()
        if (!(error instanceof LinkLost) || clock.now() >= since + patience) throw error
      }
      await clock.sleep(PAUSES[Math.min(attempt++, PAUSES.length - 1)]!, { signal })
    }
  }
}

async function drained(stream: AsyncIterable<Uint8Array>): Promise<void> {
  try {
    for await (const _ of stream);
  } catch {
    // Of a link that went.
  }
}

const LAST = 2000

async function lastWords(stream: AsyncIterable<Uint8Array>): Promise<string> {
  let text = ''
  try {
    for await (const bytes of stream) text = (text + Buffer.from(bytes).toString('utf8')).slice(-LAST)
  } catch {
    // Of a link that went.
  }
  return text.trim()
}
