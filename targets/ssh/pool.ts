import { sharedAbort, UserError, type Clock } from '../../base/runtime/index.js'
import { NoRoom, type Channel, type SshConnection } from './ssh-connection.js'

/** Channels per connection: sshd allows ten by default (MaxSessions), and a few stay free for short commands. */
const MAX_CONNECTION_CHANNELS = 8
const MAX_HOST_CONNECTIONS = 4
/** Pauses between failed attempts, in milliseconds, since many clients may use the same host. */
const CONNECT_RETRY_DELAYS = [0, 100, 250, 500, 1000, 2000, 5000]

/** A busy sshd counts a session for a while after it has said that it is closed. */
const SESSION_CLOSE_PAUSE = 50
const MAX_SESSION_CLOSE_PAUSES = 40

interface Member {
  connection: SshConnection
  channels: number
  room: number
  /** Refusals in a row while it had no session. */
  refusals: number
}

/** Connections to one host: opened on demand, several when one is full, and again when one is lost. */
export class ConnectionPool implements AsyncDisposable {
  readonly #open: (signal: AbortSignal) => Promise<SshConnection>
  readonly #clock: Clock
  readonly #name: string
  readonly #closing = sharedAbort()
  readonly #freed = new Set<() => void>()
  #members: Member[] = []
  #opening: Promise<void> | undefined
  #failures = 0

  constructor(name: string, clock: Clock, open: (signal: AbortSignal) => Promise<SshConnection>) {
    this.#name = name
    this.#clock = clock
    this.#open = open
  }

  /** @throws LinkLost; any error of opening a connection; Error after close */
  async exec(line: string): Promise<Channel> {
    for (;;) {
      this.#closing.signal.throwIfAborted()
      this.#members = this.#members.filter(({ connection }) => connection.alive)
      const member = this.#members.find(({ channels, room }) => channels < room)
      if (member) {
        const channel = await this.#on(member, line)
        if (channel) return channel
      } else if (this.#members.length < MAX_HOST_CONNECTIONS) await this.#another()
      else await new Promise<void>((resolve) => this.#freed.add(resolve))
    }
  }

  /** Opens a connection when there is none. */
  async ready(): Promise<void> {
    if (!this.#members.some(({ connection }) => connection.alive)) await this.#another()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // Not a LinkLost, since callers would wait for a lost link.
    this.#closing.abort(new Error(`the connection to ${this.#name} is closed`))
    this.#wake()
    await this.#opening?.catch(() => {})
    await Promise.all(this.#members.map(({ connection }) => connection[Symbol.asyncDispose]()))
  }

  async #on(member: Member, line: string): Promise<Channel | null> {
    member.channels++
    const free = () => {
      member.channels--
      this.#wake()
      // Extra connections are closed when idle.
      if (member.channels === 0 && this.#members.length > 1) {
        this.#members = this.#members.filter((other) => other !== member)
        void member.connection[Symbol.asyncDispose]()
      }
    }
    try {
      const channel = await member.connection.exec(line)
      member.refusals = 0
      channel.exit.catch(() => {}).finally(free)
      return channel
    } catch (error) {
      const others = member.channels - 1
      free()
      if (!(error instanceof NoRoom)) throw error
      if (others === 0 && member.refusals < MAX_SESSION_CLOSE_PAUSES) {
        member.refusals++
        await this.#clock.sleep(SESSION_CLOSE_PAUSE, { signal: this.#closing.signal })
        return null
      }
      if (others === 0)
        throw new UserError('ssh-no-commands', `${this.#name} allows no session`, {
          cause: error,
          remedy: 'check MaxSessions in its sshd_config',
        })
      member.room = others
      return null
    }
  }

  #another(): Promise<void> {
    return (this.#opening ??= this.#connect().finally(() => (this.#opening = undefined)))
  }

  async #connect(): Promise<void> {
    const { signal } = this.#closing
    try {
      await this.#clock.sleep(CONNECT_RETRY_DELAYS[Math.min(this.#failures, CONNECT_RETRY_DELAYS.length - 1)]!, {
        signal,
      })
      const connection = await this.#open(signal)
      this.#failures = 0
      this.#members.push({ connection, channels: 0, room: MAX_CONNECTION_CHANNELS, refusals: 0 })
      void connection.closed.then(() => this.#wake())
      if (signal.aborted) await connection[Symbol.asyncDispose]()
    } catch (error) {
      this.#failures++
      throw error
    }
  }

  #wake(): void {
    const waiting = [...this.#freed]
    this.#freed.clear()
    for (const wake of waiting) wake()
  }
}
