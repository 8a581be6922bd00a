import type { Socket } from 'node:net'
import type { Readable } from 'node:stream'
import type { Client, ClientChannel } from 'ssh2'
import { unlessAborted, UserError, type Clock } from '../../base/runtime/index.js'
import { LinkLost } from '../supervised/login-shell.js'
import { shownAddress } from './address.js'
import { preferringKnown } from './algorithms.js'
import { Authentication } from './authentication.js'
import { ByteQueue } from './byte-queue.js'
import { signWithCertificates } from './user-certificate.js'
import { askForCertificate, goOnWithKey } from './certificate-exchange.js'
import { readHostCertificate } from './host-certificate.js'
import { checkHostKey, type BootPhase, type HostKeyPins } from './host-keys.js'
import type { SshHostSettings } from './host-settings.js'
import { formatFingerprint, hasAuthority, knownKeyTypes, type KnownHostsFile } from './known-hosts.js'
import { asLost, AUTHENTICATION_TIMEOUT, openTcp, extendableLimit } from './tcp-connection.js'
import type { SecretSource } from './ssh-secrets.js'
import { loadSsh2 } from './ssh2.js'
import { ERRORS } from '../errors.js'

export interface SshConnectionParts {
  settings: SshHostSettings
  knownHosts: readonly KnownHostsFile[]
  /** Null for a jump host. */
  pins: HostKeyPins | null
  phase: BootPhase
  secrets: SecretSource
  clock: Clock
  /** Jump host to connect through; by default the connection is direct. */
  through?: SshConnection
  signal?: AbortSignal
  /** Called when a phase of the connection begins, with its longest time in milliseconds. */
  onPhase?: (doing: string, ms: number) => void
}

interface ShownKey {
  provisional: boolean
  fingerprint: string
}

/** A running line, whose input can be written piece by piece. */
export interface Channel {
  readonly stdout: AsyncIterable<Uint8Array>
  readonly stderr: AsyncIterable<Uint8Array>
  /** As in {@link ShellChannel}. */
  readonly exit: Promise<number | null>
  write(bytes: Uint8Array): void
  /** Ends the input. */
  end(): void
  cut(): void
}

/** Time to send the last bytes to a closing peer, in milliseconds. */
const PARTING_TIMEOUT = 500

/** The server has no room for another channel on this connection (sshd's MaxSessions). */
export class NoRoom extends Error {
  override readonly name = 'NoRoom'
}

/** One authenticated connection to one host. */
export class SshConnection implements AsyncDisposable {
  readonly #client: Client
  readonly #name: string
  readonly #clock: Clock
  readonly #through: SshConnection | undefined
  readonly #socket: Readable
  readonly #hold: Disposable
  /** Callbacks of pending requests, for when the connection is lost. */
  readonly #waiting = new Set<() => void>()
  #lost: Error | undefined
  /** Resolves when the connection is closed or lost. */
  readonly closed: Promise<void>
  /** True if the host has yet to prove its identity. */
  readonly provisional: boolean
  /** Fingerprint of the host's key. */
  readonly hostKey: string

  private constructor(parts: SshConnectionParts, client: Client, socket: Readable, shown: ShownKey) {
    this.#client = client
    this.#socket = socket
    this.#name = shownAddress(parts.settings)
    this.#clock = parts.clock
    this.#through = parts.through
    this.provisional = shown.provisional
    this.hostKey = shown.fingerprint
    this.#hold = parts.clock.hold(`a connection to ${this.#name}`)
    client.on('error', (error) => (this.#lost ??= error))
    this.closed = new Promise((resolve) =>
      client.once('close', () => {
        this.#gone()
        resolve()
      }),
    )
  }

  /**
   * @throws UserError when the host key or the login is refused; LinkLost when the host cannot be reached
   */
  static async open(parts: SshConnectionParts): Promise<SshConnection> {
    const { settings, through, clock, signal } = parts
    signal?.throwIfAborted()
    const client = new (loadSsh2().Client)()
    using _hold = clock.hold(`connecting to ${shownAddress(settings)}`)
    const limit = new AbortController()
    const timeLimit = extendableLimit(clock, limit.signal, settings.connectTimeout)
    let socket: Readable | undefined
    try {
      socket = through
        ? await unlessAborted(through.forward(settings.host, settings.port), signal)
        : await openTcp(settings, timeLimit.expired, signal, limit.signal)
      const login = new SshLogin(parts, client, socket, timeLimit)
      await login.run(limit.signal)
      return new SshConnection(parts, client, socket, login.shown)
    } catch (error) {
      client.on('error', () => {})
      socket?.destroy()
      if (through) await through[Symbol.asyncDispose]()
      throw error
    } finally {
      limit.abort()
    }
  }

  get alive(): boolean {
    return this.#lost === undefined
  }

  /**
   * @throws NoRoom; LinkLost
   */
  async exec(line: string): Promise<Channel> {
    if (!this.alive) throw this.#linkLost()
    const hold = this.#clock.hold(`a command on ${this.#name}`)
    try {
      return await new Promise<Channel>((resolve, reject) => {
        const lost = this.#whenGone(() => reject(this.#linkLost()))
        this.#client.exec(line, (error: (Error & { reason?: unknown }) | undefined, opened) => {
          lost[Symbol.dispose]()
          // A quick host's exit code may be in the packet after this one, which is read before a promise goes on.
          if (!error) resolve(this.#wrapped(opened, hold))
          else if (!this.alive) reject(this.#linkLost(error))
          // Only a refusal to open a channel has a reason.
          else if (error.reason !== undefined) reject(new NoRoom(error.message))
          else
            reject(
              new UserError('ssh-no-commands', `${this.#name} runs no commands for this login`, {
                cause: error,
                remedy: ERRORS['ssh-no-commands'].remedy,
              }),
            )
        })
      })
    } catch (error) {
      hold[Symbol.dispose]()
      throw error instanceof NoRoom || error instanceof UserError ? error : this.#linkLost(error)
    }
  }

  /** Opens a TCP connection from this host to another. */
  forward(host: string, port: number): Promise<Readable> {
    return new Promise((resolve, reject) => {
      if (!this.alive) return reject(this.#linkLost())
      const lost = this.#whenGone(() => reject(this.#linkLost()))
      this.#client.forwardOut('127.0.0.1', 0, host, port, (error, stream) => {
        lost[Symbol.dispose]()
        if (error) reject(new LinkLost(`${this.#name} cannot reach ${host}:${port}`, { cause: error }))
        else resolve(stream)
      })
    })
  }

  /**
   * Forwards connections to a port of the host's loopback interface, each to a new socket.
   *
   * @param port 0 lets the host choose
   * @returns the port
   */
  forwardIn(port: number, answer: () => Socket): Promise<number> {
    return new Promise((resolve, reject) => {
      if (!this.alive) return reject(this.#linkLost())
      const lost = this.#whenGone(() => reject(this.#linkLost()))
      this.#client.on('tcp connection', (_details, accept) => {
        const channel = accept()
        const socket = answer()
        const over = () => {
          socket.destroy()
          channel.destroy()
        }
        for (const stream of [channel, socket]) for (const event of ['error', 'close']) stream.on(event, over)
        channel.pipe(socket).pipe(channel)
      })
      this.#client.forwardIn('127.0.0.1', port, (error, chosen) => {
        lost[Symbol.dispose]()
        if (!error) return resolve(port === 0 ? chosen : port)
        if (!this.alive) return reject(this.#linkLost(error))
        reject(
          new UserError('ssh-no-forwarding', `${this.#name} does not forward a port to this host`, {
            cause: error,
            remedy:
              'allow it (AllowTcpForwarding in its sshd_config), or name the image by a URL that the host can reach',
          }),
        )
      })
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#lost ??= new Error('closed')
    this.#client.end()
    if ('destroySoon' in this.#socket) (this.#socket as Socket).destroySoon()
    else this.#socket.destroy()
    // The wait is limited: the peer, or a jump host before it, may no longer answer.
    const gone = new AbortController()
    const { signal } = gone
    const late = this.#clock.sleep(PARTING_TIMEOUT, { weak: true, signal }).then(
      () => void this.#socket.destroy(),
      () => {},
    )
    await Promise.race([this.closed, late])
    gone.abort()
    await this.#through?.[Symbol.asyncDispose]()
    await this.closed
  }

  #gone(): void {
    this.#lost ??= new Error('the connection was closed')
    this.#hold[Symbol.dispose]()
    if (this.#through?.alive) void this.#through[Symbol.asyncDispose]()
    for (const wake of this.#waiting) wake()
    this.#waiting.clear()
  }

  #whenGone(wake: () => void): Disposable {
    this.#waiting.add(wake)
    return { [Symbol.dispose]: () => void this.#waiting.delete(wake) }
  }

  #linkLost(cause: unknown = this.#lost): LinkLost {
    if (cause instanceof LinkLost) return cause
    return new LinkLost(`the link to ${this.#name} is lost`, cause === undefined ? {} : { cause })
  }

  #wrapped(channel: ClientChannel, hold: Disposable): Channel {
    const stdout = new ByteQueue(channel)
    const stderr = new ByteQueue(channel.stderr as unknown as Readable)
    let code: number | null | undefined
    let cut = false
    channel.on('exit', (exitCode: number | null) => (code = exitCode))
    channel.on('error', () => {})
    const exit = new Promise<number | null>((resolve, reject) => {
      const ended = () => {
        for (const queue of [stdout, stderr]) queue.end()
        if (code !== undefined) resolve(code)
        else if (cut || !this.alive) reject(this.#linkLost())
        else resolve(null)
      }
      const lost = this.#whenGone(() => setImmediate(ended))
      channel.once('close', () => {
        lost[Symbol.dispose]()
        ended()
      })
    })
    exit.catch(() => {}).finally(() => hold[Symbol.dispose]())
    return {
      stdout,
      stderr,
      exit,
      write: (bytes) => void (channel.writable && channel.write(bytes)),
      end: () => void channel.end(),
      cut: () => {
        if (cut) return
        cut = true
        for (const queue of [stdout, stderr]) queue.end()
        channel.close()
      },
    }
  }
}

/** The check of the host and the login of the user on a new connection. */
class SshLogin {
  /** Key that the host has shown; complete after `run`. */
  readonly shown: ShownKey = { provisional: false, fingerprint: '' }
  readonly #parts: SshConnectionParts
  readonly #client: Client
  readonly #socket: Readable
  readonly #timeLimit: ReturnType<typeof extendableLimit>
  readonly #name: string
  #authentication: Authentication | undefined

  constructor(
    parts: SshConnectionParts,
    client: Client,
    socket: Readable,
    timeLimit: ReturnType<typeof extendableLimit>,
  ) {
    this.#parts = parts
    this.#client = client
    this.#socket = socket
    this.#timeLimit = timeLimit
    this.#name = shownAddress(parts.settings)
  }

  /**
   * Not an async function: its caller must go on in the turn of `ready`, to hear what the host sends next.
   *
   * @param over aborted when the attempt is over
   */
  run(over: AbortSignal): Promise<void> {
    return new Promise<void>((resolve, reject) => {
      this.#listen(over, resolve, reject)
      this.#connect(reject)
    })
  }

  #listen(over: AbortSignal, resolve: () => void, reject: (error: unknown) => void): void {
    const { signal } = this.#parts
    const fail = (error: unknown) => {
      reject(error)
      this.#socket.destroy()
    }
    this.#timeLimit.expired.catch(() => fail(new LinkLost(`${this.#name} does not answer`)))
    signal?.addEventListener('abort', () => fail(signal.reason), { once: true, signal: over })
    this.#client.once('ready', resolve)
    this.#client.on('handshake', () => {
      this.#timeLimit.extend(AUTHENTICATION_TIMEOUT)
      this.#parts.onPhase?.('logging in', AUTHENTICATION_TIMEOUT)
    })
    this.#client.on('error', (error: Error & { level?: string }) => {
      // One method of authentication failed; others may follow.
      if (error.level === 'agent' || /^Error signing/.test(error.message)) {
        this.#authentication?.notes.push(error.message)
        return
      }
      fail(asLost(error, this.#name, this.#authentication))
    })
    this.#client.once('close', () => reject(new LinkLost(`${this.#name} closed the connection`)))
  }

  #connect(reject: (error: unknown) => void): void {
    const { settings, knownHosts } = this.#parts
    const authentication = this.#authenticate()
    this.#client.connect({
      username: settings.user,
      sock: this.#socket,
      readyTimeout: 0,
      keepaliveInterval: settings.keepalive.interval,
      keepaliveCountMax: settings.keepalive.count,
      algorithms: algorithmsFor(this.#parts) as never,
      hostVerifier: (key: Buffer) => {
        try {
          this.#checkHost(key)
          return true
        } catch (error) {
          reject(error)
          return false
        }
      },
      authHandler: authentication.handler,
    })
    signWithCertificates(this.#client)
    if (hasAuthority(knownHosts, settings.knownAs)) askForCertificate(this.#client)
  }

  #authenticate(): Authentication {
    const { settings, secrets, clock } = this.#parts
    const { shown } = this
    this.#authentication = new Authentication({
      settings,
      secrets,
      clock,
      get keysOnly() {
        return shown.provisional
      },
      asking: (question) => this.#timeLimit.pausedFor(question),
    })
    return this.#authentication
  }

  /** @param key bare, or inside of a certificate */
  #checkHost(key: Buffer): void {
    const { settings, knownHosts, pins, phase, clock } = this.#parts
    const certificate = readHostCertificate(key)
    const own = certificate?.key ?? key
    this.shown.fingerprint = formatFingerprint(own)
    const check = { name: settings.knownAs, files: knownHosts, pins, phase, now: clock.now() }
    this.shown.provisional = checkHostKey(check, own, certificate) === 'provisional'
    if (certificate) goOnWithKey(this.#client, key, certificate)
  }
}

function algorithmsFor({ settings, knownHosts }: SshConnectionParts) {
  const { algorithms, knownAs } = settings
  return {
    ...algorithms,
    serverHostKey: preferringKnown(algorithms.serverHostKey, knownKeyTypes(knownHosts, knownAs)),
    // Images are already compressed; a second compression would slow the installer down.
    compress: ['none'],
  }
}
