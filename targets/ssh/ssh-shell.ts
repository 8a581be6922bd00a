import { readFile } from 'node:fs/promises'
import {
  held,
  seconds,
  unlessAborted,
  UserError,
  type Clock,
  type Logger,
  type Random,
  silent as noLogger,
  sharedAbort,
} from '../../runtime/index.js'
import { limitedText } from '../supervised/limits.js'
import { LinkLost, type LoginShell, type ShellChannel } from '../supervised/login-shell.js'
import { Silence } from '../supervised/silence.js'
import { shownAddress, type SshAddress } from './address.js'
import { SshConnection, type Channel } from './connection.js'
import type { BootPhase, HostKeyPins } from './host-keys.js'
import { hostSettings, type HostSettings, type SshSurroundings } from './host-settings.js'
import {
  compareIdentities,
  IDENTITY_SCRIPT,
  otherHost,
  readIdentity,
  SCRIPT_LINE,
  type HostIdentity,
} from './identity.js'
import type { KnownHostsFile } from './known-hosts.js'
import { lendPort, type LentPort } from './lent-port.js'
import { ConnectionPool } from './pool.js'
import { remembered, type SecretSource } from './secrets.js'
import { asRoot } from './sudo.js'

export interface SshShellOptions {
  address: SshAddress
  surroundings: SshSurroundings
  secrets: SecretSource
  pins: HostKeyPins
  /** Which system is expected there: the live one unless told otherwise. */
  phase?: BootPhase
  /** Which machine it has to be, from an earlier conversation with it; a boot since is nothing unusual. */
  expected?: HostIdentity
  clock: Clock
  random: Random
  logger: Logger
  /** Ends logging in, with its reason. What was opened is closed by whoever has it. */
  signal?: AbortSignal
}

/** Root's shell on a machine behind SSH. */
export interface SshShell extends LoginShell, AsyncDisposable {
  /** As it was when it first answered. */
  readonly identity: HostIdentity
  /** Where, as people write it. */
  readonly address: string
  /** The host has yet to prove which it is; no password goes there. */
  readonly provisional: boolean
  /** Fingerprint of the key that it showed last. */
  readonly hostKey: string
  /** Lets the machine reach a port of this host's loopback interface by one of its own. */
  lend(port: number): Promise<LentPort>
}

/** A host that lets us in but says nothing more. */
const ANSWER = seconds(30)
const MOST_JUMPS = 8

/**
 * Logs in, looks which machine it is, and keeps to that machine: each connection that is made later has to lead to the
 * same one. Lines run as root: directly where the user is root, by sudo else.
 *
 * @throws UserError when the host cannot be reached, is not the right one, or does not let us in or work as root
 */
export async function openSshShell(options: SshShellOptions): Promise<SshShell> {
  const settings = await hostSettings(options.address, options.surroundings, options.clock)
  const host = new Host(options, settings)
  try {
    await unlessAborted(host.meet(), options.signal)
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
  readonly #settings: HostSettings
  readonly #secrets: ReturnType<typeof remembered>
  readonly #pool: ConnectionPool
  readonly #closing = sharedAbort()
  #identity: HostIdentity | undefined
  #provisional = false
  #hostKey = ''

  constructor(options: SshShellOptions, settings: HostSettings) {
    this.#options = options
    this.#settings = settings
    this.#secrets = remembered(options.secrets)
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

  /** Root knows the hardware, a user does not. */
  async meet(): Promise<void> {
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
        clock.sleep(ANSWER, { weak: true, signal: limit.signal }).then(() => false),
      ])
    } catch {
      return false
    } finally {
      limit.abort()
    }
  }

  lend(port: number): Promise<LentPort> {
    const { clock, logger } = this.#options
    const { signal: closing } = this.#closing
    return lendPort({
      ...{ name: this.name, port, clock, logger },
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
    // Later on, whoever has something to ask says what is waited for; a machine that boots is silent for long.
    const told = this.#identity === undefined && system === 'live' ? logger : noLogger
    using silence = new Silence({
      ...{ name: this.name, doing: () => phase.doing, until: () => phase.until, clock, logger: told },
    })
    const begins = (doing: string, ms: number) => {
      silence.heard()
      phase = { doing, until: clock.now() + ms }
    }
    const connection = await this.#way(this.#settings, signal, begins)
    const close = () => void connection[Symbol.asyncDispose]()
    signal.addEventListener('abort', close, { once: true })
    try {
      this.#provisional = connection.provisional
      this.#hostKey = connection.hostKey
      begins('it was asked which machine it is', ANSWER)
      const seen = await looked(await connection.exec(SCRIPT_LINE), this.#options.clock, this.name)
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

  /** What a user may not see decides only where the rest leaves a doubt. */
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
    if (verdict === 'rebooted')
      this.#options.logger('info', `${this.name} has been booted since`, { boot: seen.bootId })
  }

  async #lookAsRoot(): Promise<HostIdentity> {
    return answered(await this.#asRoot(SCRIPT_LINE, IDENTITY_SCRIPT), this.#options.clock, this.name)
  }

  /** Through all hosts that lie between. */
  async #way(
    settings: HostSettings,
    signal: AbortSignal,
    onPhase: (doing: string, ms: number) => void,
  ): Promise<SshConnection> {
    const { clock, pins, phase = 'live' } = this.#options
    const stations = await this.#stations(settings)
    let through: SshConnection | undefined
    for (const [index, station] of stations.entries()) {
      const isTarget = index === stations.length - 1
      const knownHosts = await readKnownHosts(station.knownHostsFiles, clock)
      through = await SshConnection.open({
        ...{ settings: station, knownHosts, pins: isTarget ? pins : null, phase, clock, signal, onPhase },
        secrets: this.#secrets,
        ...(through ? { through } : {}),
      })
    }
    return through!
  }

  async #stations(settings: HostSettings): Promise<HostSettings[]> {
    const { surroundings, clock } = this.#options
    const way = [settings]
    for (let first = settings; first.jumps.length > 0; first = way[0]!) {
      if (way.length > MOST_JUMPS)
        throw new UserError('ssh-config', `the way to ${this.name} leads through more than ${MOST_JUMPS} hosts`, {
          remedy: 'look for a ProxyJump that leads back to itself',
        })
      // Only the first is reached as it says itself; each of the others through the one before (ssh_config(5), ProxyJump).
      way.unshift(...(await Promise.all(first.jumps.map((jump) => hostSettings(jump, surroundings, clock)))))
    }
    return way
  }
}

async function looked(channel: Channel, clock: Clock, name: string): Promise<HostIdentity> {
  channel.write(IDENTITY_SCRIPT)
  channel.end()
  return answered(channel, clock, name)
}

async function answered(channel: Channel, clock: Clock, name: string): Promise<HostIdentity> {
  const limit = new AbortController()
  clock.sleep(ANSWER, { weak: true, signal: limit.signal }).then(
    () => channel.cut(),
    () => {},
  )
  try {
    const what = 'when it was asked which machine it is'
    const [printed, complaint, code] = await Promise.all([
      limitedText(channel.stdout, name, what),
      limitedText(channel.stderr, name, what),
      channel.exit,
    ])
    const identity = readIdentity(printed)
    if (identity) return identity
    throw new UserError('ssh-shell', `the login shell of ${name} does not run scripts`, {
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
    const found = await held(clock, 'reading known hosts', () => readFile(path, 'utf8')).catch(() => null)
    if (found !== null) files.push({ path, text: found })
  }
  return files
}
