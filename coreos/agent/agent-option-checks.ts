import { UserError, defined } from '../../base/runtime/index.js'
import { sshKeyFingerprint } from '../../ignition/index.js'
import type { AgentConfigOptions } from './coreos-agent-options.js'

/** One line without Unicode noncharacters, since systemd ignores a line that contains one. */
const LINE = /^[^\n\r\0\p{Noncharacter_Code_Point}]*$/u

/** Allowed form of each option, by where it is written: most go into a unit's command line, some into a script. */
const SHAPES = {
  image: [/^[A-Za-z0-9][\w.\-:/@[\]]*$/, 'an image reference like quay.io/metal3-io/ironic-agent:latest'],
  registry: [/^[A-Za-z0-9][\w.\-:/[\]]*$/, 'a registry like registry.example:5000/metal3-io'],
  hostname: [/^[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?$/, 'letters, digits, dots and dashes'],
  ipOptions: [LINE, 'kernel arguments in one line, for example ip=dhcp6'],
  ntpServers: [/^[\w.:-]+$/, 'a host or an address'],
  proxy: [/^[^\s\0\p{Noncharacter_Code_Point}]*$/u, 'a URL like http://proxy.example:3128'],
  noProxy: [LINE, 'hosts and networks between commas, in one line'],
  keyfiles: [/^(?!\.{1,2}$)[^/\0\n]+$/, 'a file name, for example eth0.nmconnection'],
  optionName: [/^[a-z][a-z0-9_]*$/, "a name of ironic-python-agent's, for example lookup_timeout"],
  optionValue: [LINE, 'one line'],
} as const satisfies Record<string, readonly [RegExp, string]>

/**
 * Checks the options. Returns them with SSH keys trimmed and the pull secret as JSON.
 *
 * @throws UserError (usage) that names the option, and never shows a secret
 */
export function checkOptions(options: AgentConfigOptions): AgentConfigOptions {
  const { image, registry, hostname, ipOptions, proxies = {}, pullSecret, agentOptions = {} } = options
  if (image !== undefined && registry !== undefined)
    throw agentOptionError('both an image and a registry are given', 'give the registry as part of the image')
  checkShape('the image', 'image', image)
  checkShape('the registry', 'registry', registry)
  checkShape('the host name', 'hostname', hostname)
  checkShape('the IP options', 'ipOptions', ipOptions)
  for (const server of options.ntpServers ?? []) checkShape('the time server', 'ntpServers', server)
  // A proxy's URL may contain a password.
  checkShape('the HTTP proxy', 'proxy', proxies.http, true)
  checkShape('the HTTPS proxy', 'proxy', proxies.https, true)
  checkShape('the list of hosts without proxy', 'noProxy', proxies.no)
  for (const { name } of options.keyfiles ?? []) checkShape("the keyfile's name", 'keyfiles', name)
  for (const [name, value] of Object.entries(agentOptions)) {
    checkShape("the agent's option", 'optionName', name)
    checkShape(`the value of ${name}`, 'optionValue', value, true)
  }
  return {
    ...options,
    ...defined({
      sshKeys: options.sshKeys ? options.sshKeys.map(sshKey) : undefined,
      pullSecret: pullSecret === undefined ? undefined : authFile(pullSecret),
    }),
  }
}

function checkShape(label: string, shape: keyof typeof SHAPES, value: string | undefined, secret = false): void {
  const [pattern, expected] = SHAPES[shape]
  if (value === undefined || pattern.test(value)) return
  throw agentOptionError(
    `${label} ${secret ? '(not shown)' : JSON.stringify(value)} cannot be used`,
    `give ${expected}`,
  )
}

function sshKey(line: string): string {
  const key = line.trim()
  if (!/[\n\r]/.test(key) && sshKeyFingerprint(key) !== null) return key
  // The message leaves the key out, since a user may have passed the private key.
  throw agentOptionError(
    'an SSH key (not shown) is not a public key',
    'give a line of authorized_keys, as in ~/.ssh/id_ed25519.pub',
  )
}

/** Text of podman's auth file, from JSON or from base64, in which a cluster stores its pull secret. */
function authFile(secret: string): string {
  for (const text of [secret.trim(), Buffer.from(secret.trim(), 'base64').toString()])
    try {
      const value: unknown = JSON.parse(text)
      if (typeof value === 'object' && value !== null && 'auths' in value) return text
    } catch {
      continue
    }
  throw agentOptionError(
    'the pull secret (not shown) is not an auth file',
    'give JSON like {"auths": {...}}, plain or in base64',
  )
}

const agentOptionError = (message: string, remedy: string) =>
  new UserError('agent-option', message, { kind: 'usage', remedy })
