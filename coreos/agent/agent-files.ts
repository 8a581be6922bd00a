import { defined } from '../../base/runtime/index.js'
import { maskedAddresses } from '../../base/bytes/index.js'
import type { SpecFile } from '../../ignition/index.js'
import type { AgentConfigOptions, AgentTls } from './coreos-agent-options.js'
import { AGENT_CONF, AUTH_FILE } from './agent-unit.js'

const CA_FILE = '/etc/pki/ca-trust/source/anchors/ca.crt'

/** The agent's configuration file. The `today` form writes every setting, the `original` form only those that it needs. */
export function confFile(
  options: AgentConfigOptions,
  urls: { ironic: readonly string[]; inspection: readonly string[] },
): SpecFile {
  const { template = 'today', vlanInterfaces, tls, caBundle, keyfiles = [], agentOptions = {} } = options
  const isOriginal = template === 'original'
  const vlans = vlanInterfaces === 'always' || (vlanInterfaces !== 'never' && keyfiles.length === 0) ? 'all' : ''
  const settings: Record<string, string> = {
    api_url: urls.ironic.join(','),
    inspection_callback_url: urls.inspection.join(','),
    ...defined({
      insecure: isOriginal && tls !== 'insecure' ? undefined : insecure(tls) ? 'True' : 'False',
      enable_vlan_interfaces: isOriginal && vlanInterfaces === undefined ? undefined : vlans,
    }),
    // The unit mounts the host's root file system there.
    ...defined({ cafile: tls === 'on' && caBundle !== undefined ? `/mnt/coreos${CA_FILE}` : undefined }),
    ...agentOptions,
  }
  const lines = ['[DEFAULT]', ...Object.entries(settings).map(([name, value]) => `${name} = ${value}`), '']
  const text = lines.join('\n')
  if (isOriginal) return { path: AGENT_CONF, contents: { source: base64Url(text) } }
  return makeSpecFile(AGENT_CONF, 0o644, `\n${text}`)
}

/** Ironic's certificate is not verified by default, as in the template of image-customization-controller. */
const insecure = (tls: AgentTls | undefined): boolean => tls === undefined || tls === 'insecure'

/** Files other than the agent's configuration file. */
export function otherFiles(
  options: AgentConfigOptions,
  known: { image: string; ironic: readonly string[] },
): SpecFile[] {
  const { template = 'today', keyfiles = [], pullSecret, caBundle, ntpServers = [], registriesConf, hostname } = options
  return [
    ...keyfiles.map(({ name, bytes }) => ({
      ...makeSpecFile(`/etc/NetworkManager/system-connections/${name}`, 0o600, bytes),
      overwrite: true,
    })),
    ...(pullSecret === undefined
      ? []
      : [{ path: AUTH_FILE, mode: 0o600, contents: { source: base64Url(pullSecret) } }]),
    ...(caBundle === undefined ? [] : [makeSpecFile(CA_FILE, 0o644, caBundle)]),
    ...(template === 'original' ? [] : [makeSpecFile('/etc/NetworkManager/conf.d/clientid.conf', 0o644, CLIENT_ID)]),
    ...(ntpServers.length === 0 ? [] : [timeServers(ntpServers)]),
    ...(hostname === undefined
      ? []
      : [makeSpecFile('/etc/NetworkManager/dispatcher.d/01-hostname', 0o744, hostnameScript(hostname))]),
    ...(registriesConf === undefined
      ? []
      : [{ ...makeSpecFile('/etc/containers/registries.conf', 0o644, registriesConf), overwrite: true }]),
    ...(template === 'original' ? [] : greetings(options, known)),
  ]
}

/** Makes the machine keep its DHCPv6 address from the live system to the installed one. */
const CLIENT_ID = '[connection]\nipv6.dhcp-duid=ll\nipv6.dhcp-iaid=mac'

/** Appends to the file: the image's own servers stay. */
const timeServers = (servers: readonly string[]): SpecFile => ({
  path: '/etc/chrony.conf',
  mode: 0o644,
  append: [{ source: textUrl(`${servers.map((server) => `\nserver ${server} iburst`).join('')}\n`) }],
})

/** Dispatcher script of NetworkManager, which passes DHCP's answers in environment variables. */
const hostnameScript = (hostname: string): string => `#!/bin/bash
# DHCPv6 has a whole name for this machine: it keeps that.
if [[ "$DHCP6_FQDN_FQDN" == *.* ]]; then
  hostnamectl set-hostname --static --transient "$DHCP6_FQDN_FQDN"
fi
# Nobody has told it a name.
if [[ "$(< /proc/sys/kernel/hostname)" == localhost* ]]; then
  hostnamectl set-hostname --transient ${hostname}
fi
`

/** Tells users at the console, and users who log in, that this is not an installed system. */
function greetings(
  { hostname, inspectorUrls = [] }: AgentConfigOptions,
  known: { image: string; ironic: readonly string[] },
) {
  // Every user who logs in reads this file.
  const shown = (urls: readonly string[]) => urls.map(maskedAddresses).join(', ')
  const about = [
    `  Ironic       ${shown(known.ironic)}`,
    ...(inspectorUrls.length === 0 ? [] : [`  inspection   ${shown(inspectorUrls)}`]),
    `  image        ${known.image}`,
    ...(hostname === undefined ? [] : [`  host name    ${hostname}`]),
  ]
  const what = 'A live CoreOS that runs the Ironic agent. Nothing is installed on this machine by it alone.'
  const logs = '  journalctl -u ironic-agent.service    what the agent does'
  return [
    makeSpecFile('/etc/issue.d/ipa.issue', 0o644, `\n${what}\n\n`),
    makeSpecFile('/etc/motd.d/ipa.motd', 0o644, `\n${what}\n\n${about.join('\n')}\n\n${logs}\n`),
  ]
}

const makeSpecFile = (path: string, mode: number, contents: string | Uint8Array): SpecFile => ({
  path,
  mode,
  overwrite: false,
  contents: { source: textUrl(contents) },
})

const base64Url = (text: string): string => `data:;base64,${Buffer.from(text).toString('base64')}`

/** Percent-encodes text, to keep the config readable; encodes other bytes in base64. */
function textUrl(contents: string | Uint8Array): string {
  const bytes = Buffer.from(contents)
  const text = bytes.toString()
  if (!Buffer.from(text).equals(bytes)) return `data:;base64,${bytes.toString('base64')}`
  return `data:text/plain,${encodeURIComponent(text).replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`)}`
}
