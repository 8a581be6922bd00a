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
  keyFiles: { path: string; /** Whether the configuration names it; false for default files. */ named: boolean }[]
  certificateFiles: string[]
  /** Whether only keys of {@link keyFiles} are offered, not all keys of the agent. */
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
  const { home, userName, agentSocket } = surroundings
  const found = await configured(address, surroundings, clock)
  const one = (name: string): string | undefined => [found[name]].flat()[0]
  const list = (name: string): string[] => [found[name] ?? []].flat()
  const yes = (name: string, otherwise: boolean): boolean => {
    const value = one(name)?.toLowerCase()
    return value === undefined ? otherwise : value === 'yes' || value === 'true'
  }

  const user = address.user ?? one('user') ?? userName
  const port = address.port ?? (one('port') === undefined ? 22 : Number(one('port')))
  const host = (one('hostname') ?? address.host).replace(/%([h%])/g, (_, t) => (t === 'h' ? address.host : '%'))
  const tokens: Record<string, string> = {
    '%': '%',
    h: host,
    n: address.host,
    p: String(port),
    r: user,
    u: userName,
    d: home,
    k: one('hostkeyalias') ?? address.host,
  }
  const path = (text: string) =>
    text
      .replace(/^~(?=\/|$)/, home)
      .replace(/\$\{HOME\}/g, home)
      .replace(/%(.)/g, (whole, token: string) => tokens[token] ?? whole)
  refuse(one('proxycommand'), address.host)

  const alias = one('hostkeyalias')
  const paths = (name: string, otherwise: string[]) => {
    const words = list(name)
      .flatMap((value) => value.split(/\s+/))
      .filter((word) => word !== '' && word !== 'none')
    return (found[name] === undefined ? otherwise : words).map(path)
  }
  const keys = list('identityfile').filter((file) => file !== 'none')
  const ssh = join(home, '.ssh')
  const agent = one('identityagent')
  const jump = one('proxyjump')
  return {
    host,
    port,
    user,
    knownAs: alias === undefined ? { host, port } : { host: alias, port: 22 },
    knownHostsFiles: [
      ...paths('userknownhostsfile', [join(ssh, 'known_hosts'), join(ssh, 'known_hosts2')]),
      ...paths('globalknownhostsfile', ['/etc/ssh/ssh_known_hosts', '/etc/ssh/ssh_known_hosts2']),
    ],
    keyFiles:
      found['identityfile'] === undefined
        ? USUAL_KEYS.map((name) => ({ path: join(ssh, name), named: false }))
        : keys.map((file) => ({ path: path(file), named: true })),
    certificateFiles: list('certificatefile').map(path),
    onlyTheseKeys: yes('identitiesonly', false),
    agent: agent === undefined || agent === 'SSH_AUTH_SOCK' ? agentSocket : agent === 'none' ? null : path(agent),
    methods: {
      publickey: yes('pubkeyauthentication', true),
      keyboardInteractive: yes('kbdinteractiveauthentication', yes('challengeresponseauthentication', true)),
      password: yes('passwordauthentication', true),
    },
    jumps:
      jump === undefined || jump.toLowerCase() === 'none' ? [] : jump.split(',').map((one) => parseJump(one.trim())),
    keepalive: {
      interval:
        one('serveraliveinterval') === undefined ? SSH_KEEPALIVE_INTERVAL : seconds(Number(one('serveraliveinterval'))),
      count: Number(one('serveralivecountmax') ?? 3),
    },
    connectTimeout: one('connecttimeout') === undefined ? SSH_CONNECT_TIMEOUT : seconds(Number(one('connecttimeout'))),
    algorithms: algorithmsOf({
      kex: one('kexalgorithms'),
      serverHostKey: one('hostkeyalgorithms'),
      cipher: one('ciphers'),
      hmac: one('macs'),
    }),
  }
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
