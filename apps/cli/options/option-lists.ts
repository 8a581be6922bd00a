import { AGENT_CONFIG_SHAPES } from './table/agent-config-shapes.js'

/** The options of each command. They are apart from the commands' code, so that help loads none of it. */

/** Options of every command that takes a real target. */
export const REAL_TARGET_OPTIONS = [
  'target',
  'device',
  'yes-erase',
  'allow',
  'target-is-disposable',
  'target-root',
  'installer',
  'host-key',
  'ssh-config',
  'stage-image',
  'plan',
  'check',
] as const

/** Options of every command that fetches images. */
export const IMAGE_CACHE_OPTIONS = ['cache-dir', 'cache-as', 'cache-size', 'no-cache', 'image-ca', 'image-key'] as const

/** Options of every command that takes a stream of a release in a registry. */
export const REGISTRY_OPTIONS = ['authfile', 'mirrors'] as const

export const LIVE_IMAGE_OPTIONS = ['live-iso', 'live-kernel', 'live-initramfs', 'live-rootfs', 'live-image'] as const

export const AGENT_CONFIG_OPTIONS = Object.keys(AGENT_CONFIG_SHAPES) as (keyof typeof AGENT_CONFIG_SHAPES)[]

/** Settings of the agent in live images; the environment has the others. */
const AGENT_FLAGS = [
  ...(['template', 'agent-image', 'agent-registry', 'insecure-registry', 'pull-secret', 'ssh-key'] as const),
  ...(['ip-options', 'keyfile', 'agent-option'] as const),
] as const

export const UP_OPTIONS = [
  ...([
    'profile',
    'ironic-release',
    'set',
    'host',
    'allowed-host',
    'port',
    'htpasswd',
    'tls',
    'tls-cert',
    'tls-key',
  ] as const),
  ...([
    'nodes',
    'hosts',
    'watch',
    'kube-api',
    'kube-token',
    'redfish-port',
    'ipmi-port',
    'hardware',
    'bmc-user',
    'bmc-password',
    'bmc-password-file',
    'state-dir',
    'speed',
    'clock',
    'faults',
    'realistic',
    'steps',
    'verbose',
    'open',
    'no-ui',
    'stop-with-stdin',
    'json',
  ] as const),
  ...IMAGE_CACHE_OPTIONS,
  ...LIVE_IMAGE_OPTIONS,
  ...(['image-port', ...AGENT_FLAGS] as const),
] as const

export const DEPLOY_OPTIONS = [
  'ironic-url',
  'bmc-user',
  'bmc-password',
  'bmc-password-file',
  ...REAL_TARGET_OPTIONS,
  'verify-boot',
  'image',
  ...IMAGE_CACHE_OPTIONS,
  ...REGISTRY_OPTIONS,
  'ignition',
  'no-ignition-check',
  'append-karg',
  'delete-karg',
  'hardware',
  'disk-file',
  'disk-size',
  'overwrite',
  'speed',
  'realistic',
  'steps',
  'report',
  'json',
] as const

export const AGENT_OPTIONS = [
  'ironic-url',
  ...REAL_TARGET_OPTIONS,
  'node-uuid',
  'mac',
  'hardware',
  'state-dir',
  'machine',
  'listen',
  'allowed-host',
  'kernel-params',
  'respawn',
  'steps',
  ...IMAGE_CACHE_OPTIONS,
  'standalone',
  'token',
  'token-file',
  'speed',
  'json',
] as const

export const OPENAPI_OPTIONS = ['ironic-release', 'lab'] as const

export const FAULT_LIST_OPTIONS = ['url', 'label', 'json'] as const
export const FAULT_ADD_OPTIONS = ['url', 'match', 'effect', 'times', 'after', 'probability', 'label', 'json'] as const
export const FAULT_LIFT_OPTIONS = ['url', 'label', 'all'] as const
export const CLOCK_OPTIONS = ['url', 'json'] as const
export const CLOCK_ADVANCE_OPTIONS = ['url', 'until', 'within', 'json'] as const
export const JOURNAL_OPTIONS = ['url', 'node', 'kind', 'route', 'last', 'follow', 'har', 'json'] as const

export const ERRORS_OPTIONS = ['json'] as const

export const STEP_LIST_OPTIONS = ['steps', 'json'] as const
export const STEP_SHOW_OPTIONS = ['steps', 'json'] as const
export const STEP_RUN_OPTIONS = [
  'steps',
  ...REAL_TARGET_OPTIONS,
  ...IMAGE_CACHE_OPTIONS,
  'args',
  'hardware',
  'state-dir',
  'machine',
  'json',
] as const
export const STEP_NEW_OPTIONS = ['dir'] as const

export const STATE_OPTIONS = ['state-dir', 'json'] as const
export const STATE_EXPORT_OPTIONS = ['state-dir', 'secrets'] as const

export const CACHE_LIST_OPTIONS = ['cache-dir', 'json'] as const
export const CACHE_PRUNE_OPTIONS = ['cache-dir', 'cache-size', 'all', 'json'] as const
export const CACHE_VERIFY_OPTIONS = ['cache-dir', 'json'] as const

export const IMAGES_SERVE_OPTIONS = [
  ...LIVE_IMAGE_OPTIONS,
  ...(['host', 'allowed-host', 'image-port', 'public-url', 'node', 'json'] as const),
  ...AGENT_CONFIG_OPTIONS,
] as const

export const IGNITION_VALIDATE_OPTIONS = ['json'] as const
export const IGNITION_MERGE_OPTIONS = ['spec', 'follow'] as const
export const IGNITION_TRANSLATE_OPTIONS = ['spec'] as const
export const IGNITION_SHOW_OPTIONS = ['cat', 'json'] as const

export const REHEARSE_OPTIONS = [
  ...(['all', 'list', 'without', 'seed', 'json', 'image-ca'] as const),
  ...REGISTRY_OPTIONS,
] as const

export const FLEET_OPTIONS = [
  ...([
    'count',
    'systems',
    'hardware',
    'disks',
    'redfish-host',
    'redfish-port',
    'ipmi-port',
    'tls',
    'tls-cert',
    'tls-key',
    'user',
    'password-file',
    'agent-port',
    'advertise',
    'allowed-host',
    'control-port',
    'open',
    'no-ui',
    'notifier-port',
    'ironic-url',
    'enroll',
    'node-driver',
    'boot-interface',
    'driver-info',
    'hosts-out',
    'ipxe-url',
    'media-ca',
    'boot-time',
    'disk-time',
    'power-time',
    'speed',
    'seed',
    'state-dir',
    'steps',
  ] as const),
  ...IMAGE_CACHE_OPTIONS,
  ...(['stop-with-stdin', 'json'] as const),
] as const

export const CHAOS_OPTIONS = ['nodes', 'duration', 'seed', 'faults', 'out', 'no-shrink', 'json'] as const

export const RECORD_OPTIONS = [
  ...([
    'upstream',
    'output',
    'force',
    'host',
    'allowed-host',
    'port',
    'agents',
    'body-limit',
    'mask',
    'ca',
    'insecure',
    'json',
  ] as const),
] as const
export const REPLAY_OPTIONS = [
  ...(['as', 'host'] as const),
  ...(['against', 'known', 'partial', 'wait', 'secret-values', 'ca', 'insecure', 'json'] as const),
] as const
export const DIFF_OPTIONS = ['known', 'partial', 'json'] as const

export const BMH_EXPLAIN_OPTIONS = ['ironic-release', 'json'] as const

export const RUN_OPTIONS = [
  ...(['only', 'parallel', 'max-failures', 'plan', 'check', 'resume', 'restart', 'state-dir'] as const),
  ...([
    'rehearse',
    'faults',
    'seed',
    'through-ironic',
    'serve-image',
    'junit',
    'html',
    'open',
    'no-ui',
    'json',
  ] as const),
  ...IMAGE_CACHE_OPTIONS,
] as const
export const RUN_INIT_OPTIONS = ['force'] as const
export const RUN_ATTACH_OPTIONS = [
  ...(['state-dir', 'parallel', 'serve-image', 'junit', 'html', 'open', 'no-ui', 'json'] as const),
  ...IMAGE_CACHE_OPTIONS,
] as const
export const RUN_DISCOVER_OPTIONS = ['bmc-user', 'bmc-password', 'bmc-password-file', 'out', 'force', 'json'] as const
