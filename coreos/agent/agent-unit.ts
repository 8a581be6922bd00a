import type { AgentTemplate } from './coreos-agent-options.js'

/** Variable parts of the unit that runs the container. */
export interface AgentUnitParts {
  image: string
  /** True if a pull secret is at {@link AUTH_FILE}. */
  authFile: boolean
  insecureRegistry: boolean
  proxies: { http?: string; https?: string; no?: string }
  /** Environment of the container; undefined variables are left out. */
  environment: Readonly<Record<string, string | undefined>>
}

export const AGENT_UNIT = 'ironic-agent.service'
export const AUTH_FILE = '/etc/authfile.json'
export const AGENT_CONF = '/etc/ironic-python-agent.conf'

const bind = (source: string, target: string): string => `--mount type=bind,src=${source},dst=${target}`

/** Mounts: the agent's settings, and the parts of the host that it works on. */
const CONF = bind(AGENT_CONF, '/etc/ironic-python-agent/ignition.conf')
const DEVICES = [bind('/dev', '/dev'), bind('/sys', '/sys')]
const HOST_MOUNT = bind('/', '/mnt/coreos')

export const agentUnit = (template: AgentTemplate, parts: AgentUnitParts): string =>
  template === 'original' ? original(parts) : todays(parts)

/** The unit has no `Restart=`: when the pull fails, the machine stays without an agent. */
function original(parts: AgentUnitParts): string {
  const run = ['--privileged --network host', CONF, ...DEVICES, HOST_MOUNT, ...variables(parts), '--name ironic-agent']
  return unit({
    Unit: ['Description=Ironic Agent', 'After=network-online.target', 'Wants=network-online.target'],
    Service: [
      ...joinWords(parts).filter((line) => !line.endsWith('="')),
      'TimeoutStartSec=0',
      command('ExecStartPre=/bin/podman pull', parts.image, ...registryFlags(parts)),
      command('ExecStart=/bin/podman run', ...run, parts.image),
    ],
    Install: ['WantedBy=multi-user.target'],
  })
}

/** Type=notify: podman notifies systemd when the container runs, so the pull counts as part of the start. */
function todays(parts: AgentUnitParts): string {
  const id = '--cidfile=%t/%n.ctr-id'
  const run = [
    `--detach --cgroups=no-conmon --sdnotify=conmon --rm ${id} --privileged --network host`,
    CONF,
    ...DEVICES,
    bind('/run/dbus/system_bus_socket', '/run/dbus/system_bus_socket'),
    HOST_MOUNT,
    bind('/run/udev', '/run/udev'),
    '--ipc=host --uts=host',
    ...variables(parts),
    ...registryFlags(parts),
    '--name ironic-agent',
  ]
  return unit({
    Unit: ['Description=Ironic Agent', 'After=network-online.target', 'Wants=network-online.target'],
    Service: [
      ...joinWords(parts),
      'TimeoutStartSec=0',
      'Restart=on-failure',
      'RestartSec=5',
      'StartLimitIntervalSec=0',
      'Type=notify',
      'ExecStartPre=/bin/rm -f %t/%n.ctr-id',
      command('ExecStart=/bin/podman run', ...run, parts.image),
      `ExecStop=/usr/bin/podman stop --ignore ${id}`,
      `ExecStopPost=/usr/bin/podman rm -f --ignore ${id}`,
    ],
    Install: ['WantedBy=multi-user.target'],
  })
}

const unit = (sections: Readonly<Record<string, readonly string[]>>): string =>
  Object.entries(sections)
    .map(([name, lines]) => [`[${name}]`, ...lines].join('\n'))
    .join('\n')
    .concat('\n')

const command = (...words: string[]): string => words.join(' ')

const registryFlags = ({ authFile, insecureRegistry }: AgentUnitParts): string[] => [
  ...(insecureRegistry ? ['--tls-verify=false'] : []),
  ...(authFile ? [`--authfile=${AUTH_FILE}`] : []),
]

const joinWords = ({ proxies: { http = '', https = '', no = '' } }: AgentUnitParts): string[] =>
  Object.entries({ HTTP_PROXY: http, HTTPS_PROXY: https, NO_PROXY: no }).map(
    ([name, value]) => `Environment="${name}=${escapeUnitText(value)}"`,
  )

const variables = ({ environment }: AgentUnitParts): string[] =>
  Object.entries(environment).flatMap(([name, value]) =>
    // systemd expands a dollar on command lines, but not in `Environment=`.
    value === undefined ? [] : [`--env "${name}=${escapeUnitText(value).replaceAll('$', '$$$$')}"`],
  )

/**
 * Escapes a text for double quotes in a unit. image-customization-controller does not escape percent signs, so systemd
 * reads the `%40` of a password as a specifier.
 */
const escapeUnitText = (text: string): string => text.replace(/["\\]/g, '\\$&').replaceAll('%', '%%')
