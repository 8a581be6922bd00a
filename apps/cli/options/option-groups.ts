import {
  AGENT_CONFIG_OPTIONS,
  IMAGE_CACHE_OPTIONS,
  LIVE_IMAGE_OPTIONS,
  REAL_TARGET_OPTIONS,
  REGISTRY_OPTIONS,
} from './option-lists.js'
import type { CommandOptionName } from './option-table.js'

/** Commands with fewer options list them in one piece. */
const MIN_GROUPED_OPTIONS = 20

/** How help groups the options of a command with many; those of no group come first. */
const OPTION_GROUPS: Readonly<Record<string, readonly CommandOptionName[]>> = {
  'Machines:': ['nodes', 'machines', 'count', 'hardware', 'disks', 'state-dir', 'steps', 'realistic', 'speed'],
  'BMCs:': [
    'redfish-port',
    'redfish-host',
    'ipmi-port',
    'user',
    'password-file',
    'bmc-user',
    'bmc-password',
    'bmc-password-file',
    'boot-time',
    'disk-time',
    'power-time',
  ],
  'Metal3 hosts:': [
    'ironic-cr',
    'hosts',
    'watch',
    'kube-api',
    'kube-crds',
    'kube-token',
    'actors',
    'operators-as',
    'hostclaims',
  ],
  'Several processes:': ['database', 'database-schema', 'database-password-file', 'role'],
  'Time and faults:': ['clock', 'faults', 'seed'],
  'Access:': ['host', 'allowed-host', 'port', 'tls', 'tls-cert', 'tls-key', 'htpasswd', 'open', 'no-ui'],
  'Real disks:': REAL_TARGET_OPTIONS,
  'Live images and their agent:': [...LIVE_IMAGE_OPTIONS, 'image-port', 'public-url', ...AGENT_CONFIG_OPTIONS],
  'Image cache and registries:': [...IMAGE_CACHE_OPTIONS, ...REGISTRY_OPTIONS],
  'Output:': ['report', 'json', 'verbose', 'stop-with-stdin'],
}

/** The title below which help lists an option; undefined if it belongs to no group or its command has few options. */
export function optionGroup(name: CommandOptionName, all: readonly CommandOptionName[]): string | undefined {
  if (all.length < MIN_GROUPED_OPTIONS) return undefined
  return Object.entries(OPTION_GROUPS).find(([, names]) => names.includes(name))?.[0]
}

/** Options in the order of their groups. */
export function groupedOptions(names: readonly CommandOptionName[]): CommandOptionName[] {
  const titles = [undefined, ...Object.keys(OPTION_GROUPS)]
  return titles.flatMap((title) => names.filter((name) => optionGroup(name, names) === title))
}
