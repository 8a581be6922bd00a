import {
  defined,
  withClockHeld,
  seconds,
  unlessAborted,
  UserError,
  type Clock,
  type Logger,
  type Random,
  silent as noLogger,
  sharedAbort,
  readNamedText,
} from '../../base/runtime/index.js'
import { limitedText } from '../supervised/output-limits.js'
import { LinkLost, type LoginShell, type ShellChannel } from '../supervised/login-shell.js'
import { Silence } from '../supervised/silence.js'
import { shownAddress, type SshAddress } from './address.js'
import { SshConnection, type Channel } from './ssh-connection.js'
import type { BootPhase, HostKeyPins } from './host-keys.js'
import { hostSettings, type SshHostSettings, type SshSurroundings } from './host-settings.js'
import {
  compareIdentities,
  IDENTITY_SCRIPT,
  otherHost,
  readIdentity,
  SCRIPT_LINE,
  type HostIdentity,
} from './ssh-identity.js'
import type { KnownHostsFile } from './known-hosts.js'
import { forwardPort, type ForwardedPort } from './forwarded-port.js'
import { ConnectionPool } from './pool.js'
import { rememberSecrets, type SecretSource } from './ssh-secrets.js'
import { asRoot } from './sudo.js'

export interface SshShellOptions {
  address: SshAddress
  surroundings: SshSurroundings
  secrets: SecretSource
  pins: HostKeyPins
  /** Expected system; the live one by default. */
  phase?: BootPhase
  /** Identity that the machine must have, from an earlier connection; it may have rebooted since. */
  expected?: HostIdentity
  clock: Clock
  random: Random
  logger: Logger
  /** Aborts the login with its reason. An open shell is closed by its owner, not by this signal. */
  signal?: AbortSignal
}

/** Root's shell on a machine behind SSH. */
export interface SshShell extends LoginShell, AsyncDisposable {
  /** Identity at the first answer. */
  readonly identity: HostIdentity
  /** `user@host[:port]` */
  readonly address: string
  /** Whether the host has yet to prove its identity; until then it gets no password. */
  readonly provisional: boolean
  /** Fingerprint of its host key at the last connection. */
  readonly hostKey: string
  /** Forwards a port of the machine to a port of this host's loopback interface. */
  forward(port: number): Promise<ForwardedPort>
}

/** Time for an answer of a host after the login. */
const SHELL_ANSWER_TIMEOUT = seconds(30)
const MAX_SSH_JUMPS = 8

/**
 * Logs in and reads the machine's identity; every later connection must lead to the same machine. Lines run as root:
 * directly when the user is root, by sudo otherwise.
 *
 * @throws UserError when the host cannot be reached, is another machine, or refuses the login or root
 */
export async function openSshShell(options: SshShellOptions): Promise<SshShell> {
  const settings = await hostSettings(options.address, options.surroundings, options.clock)
  const host = new Host(options, settings)
  try {
    await unlessAborted(host.connect(), options.signal)
    return host
  } catch (error) {
    await host[Symbol.asyncDispose]()
    if (!(error instanceof LinkLost)) throw error
    throw new UserError('ssh-unreachable', `${host.name} cannot be reached`, {
      cause: error.cause ?? error,
      remedy: `see that the machine is on and that ssh ${host.name.replace(/:(\d+)$/, ' -p $1')} works`,
    })
  }
}

class Host implements SshShell {
  readonly name: string
  readonly address: string
  readonly #options: SshShellOptions
  readonly #settings: SshHostSettings
  readonly #secrets: ReturnType<typeof rememberSecrets>
  readonly #pool: ConnectionPool
  readonly #closing = sharedAbort()
  #identity: HostIdentity | undefined
  #provisional = false
  #hostKey = ''

  constructor(options: SshShellOptions, settings: SshHostSettings) {
    this.#options = options
    this.#settings = settings
    this.#secrets = rememberSecrets(options.secrets)
    this.name = this.address = shownAddress(settings)
    this.#pool = new ConnectionPool(this.name, options.clock, (signal) => this.#connect(signal))
    this.#identity = options.expected
  }

  get identity(): HostIdentity {
    return this.#identity!
  }

  get provisional(): boolean {
    return this.#provisional
  }

  get hostKey(): string {
    return this.#hostKey
  }

  /** Connects, and reads the identity again as root, since only root may read the hardware's UUID. */
  async connect(): Promise<void> {
    await this.#pool.ready()
    if (this.identity.uid === 0) return
    const asSeenByRoot = await this.#lookAsRoot()
    this.#check(asSeenByRoot)
    this.#identity = { ...asSeenByRoot, uid: this.identity.uid }
  }

  async open(line: string, options: { stdin?: Uint8Array; signal?: AbortSignal } = {}): Promise<ShellChannel> {
    const { stdin = new Uint8Array(), signal } = options
    signal?.throwIfAborted()
    const channel = await unlessAborted(this.#asRoot(line, stdin), signal, (late) => late.cut())
    const cut = () => channel.cut()
    signal?.addEventListener('abort', cut, { once: true })
    channel.exit.catch(() => {}).finally(() => signal?.removeEventListener('abort', cut))
    if (signal?.aborted) channel.cut()
    const { stdout, stderr, exit } = channel
    return { stdout, stderr, exit, cut }
  }

  async alive(): Promise<boolean> {
    const { clock } = this.#options
    const limit = new AbortController()
    try {
      const answered = async () => {
        const channel = await this.#pool.exec('exit 0')
        limit.signal.addEventListener('abort', () => channel.cut(), { once: true })
        channel.end()
        await channel.exit
        return true
      }
      return await Promise.race([
        answered(),
        clock.sleep(SHELL_ANSWER_TIMEOUT, { weak: true, signal: limit.signal }).then(() => false),
      ])
    } catch {
      return false
    } finally {
      limit.abort()
    }
  }

  forward(port: number): Promise<ForwardedPort> {
    const { clock, logger } = this.#options
    const { signal: closing } = this.#closing
    return forwardPort({
      name: this.name,
      port,
      clock,
      logger,
      open: (signal) => this.#connect(AbortSignal.any([signal, closing])),
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort(new Error(`the connection to ${this.name} is closed`))
    await this.#pool[Symbol.asyncDispose]()
  }

  async #asRoot(line: string, stdin: Uint8Array): Promise<Channel> {
    if (this.identity.uid === 0) {
      const channel = await this.#pool.exec(line)
      channel.write(stdin)
      channel.end()
      return channel
    }
    const { user, host } = this.#settings
    const question = { kind: 'sudo', about: `password for sudo of ${user}@${host}`, echo: false } as const
    return asRoot(
      {
        name: this.name,
        exec: (wrapped) => this.#pool.exec(wrapped),
        password: () => (this.#provisional ? Promise.resolve(null) : this.#secrets.ask(question)),
        wrong: () => this.#secrets.forget(question),
        clock: this.#options.clock,
        random: this.#options.random,
      },
      line,
      stdin,
    )
  }

  async #connect(signal: AbortSignal): Promise<SshConnection> {
    const { clock, logger, phase: system = 'live' } = this.#options
    let phase = { doing: 'connecting', until: clock.now() + this.#settings.connectTimeout }
    // Only the first connection logs silence: later callers do so themselves, and a booting machine is silent for long.
    const silenceLogger = this.#identity === undefined && system === 'live' ? logger : noLogger
    using silence = new Silence({
      name: this.name,
      doing: () => phase.doing,
      until: () => phase.until,
      clock,
      logger: silenceLogger,
    })
    const begins = (doing: string, ms: number) => {
      silence.heard()
      phase = { doing, until: clock.now() + ms }
    }
    const connection = await this.#throughJumps(this.#settings, signal, begins)
    const close = () => void connection[Symbol.asyncDispose]()
    signal.addEventListener('abort', close, { once: true })
    try {
      this.#provisional = connection.provisional
      this.#hostKey = connection.hostKey
      begins('reading its identity', SHELL_ANSWER_TIMEOUT)
      const seen = await readIdentityOver(await connection.exec(SCRIPT_LINE), this.#options.clock, this.name)
      if (!this.#identity) this.#identity = seen
      else this.#identity = { ...this.#identity, uid: (await this.#recognised(connection, seen)).uid }
      return connection
    } catch (error) {
      await connection[Symbol.asyncDispose]()
      signal.throwIfAborted()
      throw error
    } finally {
      signal.removeEventListener('abort', close)
    }
  }

  /** Checks the machine; asks root for the hardware's UUID only when the other values leave a doubt. */
  async #recognised(connection: SshConnection, seen: HostIdentity): Promise<HostIdentity> {
    const doubtful = ['other', 'unclear'].includes(compareIdentities(this.identity, seen))
    if (!doubtful || seen.uid === 0 || this.identity.dmiUuid === null) {
      this.#check(seen)
      return seen
    }
    const { user, host } = this.#settings
    const channel = await asRoot(
      {
        name: this.name,
        exec: (wrapped) => connection.exec(wrapped),
        password: () => this.#secrets.ask({ kind: 'sudo', about: `password for sudo of ${user}@${host}`, echo: false }),
        wrong: () => {},
        clock: this.#options.clock,
        random: this.#options.random,
      },
      SCRIPT_LINE,
      IDENTITY_SCRIPT,
    )
    this.#check(await answered(channel, this.#options.clock, this.name))
    return seen
  }

  #check(seen: HostIdentity): void {
    const verdict = compareIdentities(this.identity, seen)
    if (verdict === 'other' || verdict === 'unclear') throw otherHost(this.name, this.identity, seen, verdict)
    if (verdict === 'rebooted') this.#options.logger('info', `${this.name} has rebooted since`, { boot: seen.bootId })
  }

  async #lookAsRoot(): Promise<HostIdentity> {
    return answered(await this.#asRoot(SCRIPT_LINE, IDENTITY_SCRIPT), this.#options.clock, this.name)
  }

  /** Connects through all jump hosts. */
  async #throughJumps(
    settings: SshHostSettings,
    signal: AbortSignal,
    onPhase: (doing: string, ms: number) => void,
  ): Promise<SshConnection> {
    const { clock, pins, phase = 'live' } = this.#options
    const hosts = await this.#hostsToTarget(settings)
    let through: SshConnection | undefined
    for (const [index, host] of hosts.entries()) {
      const isTarget = index === hosts.length - 1
      const knownHosts = await readKnownHosts(host.knownHostsFiles, clock)
      through = await SshConnection.open({
        settings: host,
        knownHosts,
        pins: isTarget ? pins : null,
        phase,
        clock,
        signal,
        onPhase,
        secrets: this.#secrets,
        ...defined({ through }),
      })
    }
    return through!
  }

  async #hostsToTarget(settings: SshHostSettings): Promise<SshHostSettings[]> {
    const { surroundings, clock } = this.#options
    const hosts = [settings]
    for (let first = settings; first.jumps.length > 0; first = hosts[0]!) {
      if (hosts.length > MAX_SSH_JUMPS)
        throw new UserError('ssh-config', `the path to ${this.name} has more than ${MAX_SSH_JUMPS} jump hosts`, {
          remedy: 'look for a ProxyJump that leads back to itself',
        })
      // Only the first host's own ProxyJump counts; each other one is reached through the host before (ssh_config(5)).
      hosts.unshift(...(await Promise.all(first.jumps.map((jump) => hostSettings(jump, surroundings, clock)))))
    }
    return hosts
  }
}

async function readIdentityOver(channel: Channel, clock: Clock, name: string): Promise<HostIdentity> {
  channel.write(IDENTITY_SCRIPT)
  channel.end()
  return answered(channel, clock, name)
}

async function answered(channel: Channel, clock: Clock, name: string): Promise<HostIdentity> {
  const limit = new AbortController()
  clock.sleep(SHELL_ANSWER_TIMEOUT, { weak: true, signal: limit.signal }).then(
    () => channel.cut(),
    () => {},
  )
  try {
    const what = 'instead of its identity'
    const [printed, complaint, code] = await Promise.all([
      limitedText(channel.stdout, name, what),
      limitedText(channel.stderr, name, what),
      channel.exit,
    ])
    const identity = readIdentity(printed)
    if (identity) return identity
    throw new UserError('target-shell', `the login shell of ${name} does not run scripts`, {
      cause: new Error((complaint || printed).trim().slice(-500) || `it ended with ${code ?? 'a signal'}`),
      remedy: 'look at what logging in there prints; /bin/sh must be there',
    })
  } finally {
    limit.abort()
    channel.cut()
    channel.exit.catch(() => {})
  }
}

async function readKnownHosts(paths: readonly string[], clock: Clock): Promise<KnownHostsFile[]> {
  const files: KnownHostsFile[] = []
  for (const path of paths) {
    const found = await withClockHeld(clock, 'reading known hosts', () => readNamedText(path)).catch(() => null)
    if (found !== null) files.push({ path, text: found })
  }
  return files
}
