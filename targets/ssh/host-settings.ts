import SSHConfig from 'ssh-config'
import { join } from 'node:path'
import { seconds, UserError, type Clock } from '../../base/runtime/index.js'
import { parseJump, type SshAddress } from './address.js'
import { algorithmsOf, type Algorithms } from './algorithms.js'
import { configText } from './config-text.js'

/** Environment that ssh(1) would read by itself. */
export interface SshSurroundings {
  /** The user's home folder on this host. */
  home: string
  /** Name of that user; the login name by default. */
  userName: string
  /** `SSH_AUTH_SOCK` */
  agentSocket: string | null
  /** Replaces `~/.ssh/config`; null reads no file, not even the system's. */
  configFile?: string | null
}

/** Settings of a connection to one host. */
export interface SshHostSettings {
  host: string
  port: number
  user: string
  /** Name under which its keys are looked up. */
  knownAs: { host: string; port: number }
  knownHostsFiles: string[]
  keyFiles: { path: string; /** True if the configuration names it; false for default files. */ named: boolean }[]
  certificateFiles: string[]
  /** True if only keys of {@link keyFiles} are offered, not all keys of the agent. */
  onlyTheseKeys: boolean
  agent: string | null
  /** Enabled methods; they are tried in OpenSSH's order. */
  methods: { publickey: boolean; keyboardInteractive: boolean; password: boolean }
  /** Jump hosts, in order. */
  jumps: SshAddress[]
  /** In milliseconds; an interval of 0 sends none. */
  keepalive: { interval: number; count: number }
  connectTimeout: number
  algorithms: Algorithms
}

/** Unlike ssh(1), keepalives are on by default: an installation must not hang on a lost link. */
const SSH_KEEPALIVE_INTERVAL = seconds(15)
const SSH_CONNECT_TIMEOUT = seconds(20)
const USUAL_KEYS = ['id_rsa', 'id_ecdsa', 'id_ed25519']

/**
 * Reads `~/.ssh/config` and the system's file for one host, as ssh(1) does: the first value of a keyword counts.
 *
 * @throws UserError for a setting that is not supported
 */
export async function hostSettings(
  address: SshAddress,
  surroundings: SshSurroundings,
  clock: Clock,
): Promise<SshHostSettings> {
  const values = new SshConfigValues(await configured(address, surroundings, clock))
  const endpoint = sshEndpoint(address, values, surroundings.userName)
  const { host, port, user } = endpoint
  const alias = values.first('hostkeyalias')
  refuse(values.first('proxycommand'), address.host)
  const paths = new SshConfigPaths(surroundings.home, pathTokens(address, endpoint, alias, surroundings))
  return {
    host,
    port,
    user,
    knownAs: alias === undefined ? { host, port } : { host: alias, port: 22 },
    knownHostsFiles: knownHostsFiles(values, paths),
    keyFiles: keyFiles(values, paths),
    certificateFiles: values.all('certificatefile').map((file) => paths.expand(file)),
    onlyTheseKeys: values.flag('identitiesonly', false),
    agent: agentOf(values.first('identityagent'), surroundings.agentSocket, paths),
    methods: authenticationMethods(values),
    jumps: jumpHosts(values.first('proxyjump')),
    keepalive: {
      interval: values.seconds('serveraliveinterval', SSH_KEEPALIVE_INTERVAL),
      count: Number(values.first('serveralivecountmax') ?? 3),
    },
    connectTimeout: values.seconds('connecttimeout', SSH_CONNECT_TIMEOUT),
    algorithms: algorithmsOf({
      kex: values.first('kexalgorithms'),
      serverHostKey: values.first('hostkeyalgorithms'),
      cipher: values.first('ciphers'),
      hmac: values.first('macs'),
    }),
  }
}

/** Values of the configuration for one host, by keyword in lower case. */
class SshConfigValues {
  readonly #found: Readonly<Record<string, string | string[]>>

  constructor(found: Readonly<Record<string, string | string[]>>) {
    this.#found = found
  }

  has(keyword: string): boolean {
    return this.#found[keyword] !== undefined
  }

  first(keyword: string): string | undefined {
    return this.all(keyword)[0]
  }

  all(keyword: string): string[] {
    return [this.#found[keyword] ?? []].flat()
  }

  flag(keyword: string, otherwise: boolean): boolean {
    const value = this.first(keyword)?.toLowerCase()
    return value === undefined ? otherwise : value === 'yes' || value === 'true'
  }

  /** @returns milliseconds */
  seconds(keyword: string, otherwise: number): number {
    const value = this.first(keyword)
    return value === undefined ? otherwise : seconds(Number(value))
  }
}

/** Address and login to connect with. */
interface SshEndpoint {
  host: string
  port: number
  user: string
}

function sshEndpoint(address: SshAddress, values: SshConfigValues, userName: string): SshEndpoint {
  const port = values.first('port')
  const host = values.first('hostname') ?? address.host
  return {
    host: host.replace(/%([h%])/g, (_, token) => (token === 'h' ? address.host : '%')),
    port: address.port ?? (port === undefined ? 22 : Number(port)),
    user: address.user ?? values.first('user') ?? userName,
  }
}

/** Values of the tokens that paths may contain, from the TOKENS section of ssh_config(5). */
const pathTokens = (
  address: SshAddress,
  { host, port, user }: SshEndpoint,
  alias: string | undefined,
  { home, userName }: SshSurroundings,
): Readonly<Record<string, string>> => ({
  '%': '%',
  h: host,
  n: address.host,
  p: String(port),
  r: user,
  u: userName,
  d: home,
  k: alias ?? address.host,
})

/** Turns paths of the configuration into those of files. */
class SshConfigPaths {
  readonly #home: string
  readonly #tokens: Readonly<Record<string, string>>

  constructor(home: string, tokens: Readonly<Record<string, string>>) {
    this.#home = home
    this.#tokens = tokens
  }

  /** Path of one of the user's default files. */
  inSshFolder(name: string): string {
    return join(this.#home, '.ssh', name)
  }

  expand(text: string): string {
    return text
      .replace(/^~(?=\/|$)/, this.#home)
      .replace(/\$\{HOME\}/g, this.#home)
      .replace(/%(.)/g, (whole, token: string) => this.#tokens[token] ?? whole)
  }
}

function knownHostsFiles(values: SshConfigValues, paths: SshConfigPaths): string[] {
  const named = (keyword: string, otherwise: string[]): string[] => {
    const words = values.all(keyword).flatMap((value) => value.split(/\s+/))
    const files = values.has(keyword) ? words.filter((word) => word !== '' && word !== 'none') : otherwise
    return files.map((file) => paths.expand(file))
  }
  return [
    ...named('userknownhostsfile', [paths.inSshFolder('known_hosts'), paths.inSshFolder('known_hosts2')]),
    ...named('globalknownhostsfile', ['/etc/ssh/ssh_known_hosts', '/etc/ssh/ssh_known_hosts2']),
  ]
}

function keyFiles(values: SshConfigValues, paths: SshConfigPaths): SshHostSettings['keyFiles'] {
  if (!values.has('identityfile')) return USUAL_KEYS.map((name) => ({ path: paths.inSshFolder(name), named: false }))
  const files = values.all('identityfile').filter((file) => file !== 'none')
  return files.map((file) => ({ path: paths.expand(file), named: true }))
}

/** Path of the agent's socket; null where no agent is asked. */
function agentOf(value: string | undefined, agentSocket: string | null, paths: SshConfigPaths): string | null {
  if (value === undefined || value === 'SSH_AUTH_SOCK') return agentSocket
  return value === 'none' ? null : paths.expand(value)
}

const authenticationMethods = (values: SshConfigValues): SshHostSettings['methods'] => ({
  publickey: values.flag('pubkeyauthentication', true),
  keyboardInteractive: values.flag(
    'kbdinteractiveauthentication',
    // The keyword's older name.
    values.flag('challengeresponseauthentication', true),
  ),
  password: values.flag('passwordauthentication', true),
})

function jumpHosts(value: string | undefined): SshAddress[] {
  if (value === undefined || value.toLowerCase() === 'none') return []
  return value.split(',').map((jump) => parseJump(jump.trim()))
}

async function configured(
  { host, user }: SshAddress,
  { home, configFile }: SshSurroundings,
  clock: Clock,
): Promise<Record<string, string | string[]>> {
  if (configFile === null) return {}
  const folder = join(home, '.ssh')
  const own = await configText(configFile ?? join(folder, 'config'), folder, home, clock)
  // ssh(1) skips the system's file too when its -F option names another file.
  const system = configFile === undefined ? await configText('/etc/ssh/ssh_config', '/etc/ssh', home, clock) : ''
  try {
    // `Match all` ends the last section of the user's file, so that the system's begins outside any section.
    const parsed = SSHConfig.parse(`${own}\nMatch all\n${system}`)
    // Programs of `Match exec` do not run: a target should not depend on the output of a program.
    const query = user === null ? { Host: host } : { Host: host, User: user }
    return parsed.compute(query, { ignoreCase: true, matchExec: false })
  } catch (cause) {
    throw new UserError('ssh-config', 'the SSH configuration cannot be read', {
      cause,
      remedy: 'correct ~/.ssh/config; ssh -G HOST shows how ssh reads it',
    })
  }
}

function refuse(proxyCommand: string | undefined, host: string): void {
  if (proxyCommand === undefined || proxyCommand.toLowerCase() === 'none') return
  throw new UserError('ssh-config', `the SSH configuration has a ProxyCommand for ${host}, which is not supported`, {
    remedy: 'use ProxyJump',
  })
}
