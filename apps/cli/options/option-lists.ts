import { AGENT_CONFIG_SHAPES } from './table/agent-config-shapes.js'
import { IMAGE_CACHE_SHAPES, PUBLISHED_SHAPES, REGISTRY_SHAPES } from './table/fetch-shapes.js'
import { FLEET_SHAPES } from './table/fleet-shapes.js'
import { HARDWARE_LAB_SHAPES } from './table/hardware-lab-shapes.js'
import { namesOf } from './table/option-shape.js'
import { RELEASE_SHAPES } from './table/stream-shapes.js'
import { UP_SHAPES } from './table/up-shapes.js'

/**
 * The options of each command, apart from the commands' code, so that help loads none of it. A part of the table whose
 * options all belong to one command, or to one kind of command, is taken whole.
 */

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
export const IMAGE_CACHE_OPTIONS = namesOf(IMAGE_CACHE_SHAPES)

/** Options of every command that takes a stream of a release in a registry. */
export const REGISTRY_OPTIONS = namesOf(REGISTRY_SHAPES)

export const LIVE_IMAGE_OPTIONS = ['live-iso', 'live-kernel', 'live-initramfs', 'live-rootfs', 'live-image'] as const

export const AGENT_CONFIG_OPTIONS = namesOf(AGENT_CONFIG_SHAPES)

/** Settings of the agent in live images; the environment has the others. */
const AGENT_FLAGS = [
  'template',
  'agent-image',
  'agent-registry',
  'insecure-registry',
  'pull-secret',
  'ssh-key',
  'ip-options',
  'keyfile',
  'agent-option',
] as const

/** A new option of `up` alone needs only its row in `UP_SHAPES`. */
export const UP_OPTIONS = [
  ...namesOf(UP_SHAPES),
  'operators-as',
  'ironic-release',
  'host',
  'allowed-host',
  'port',
  'tls',
  'tls-cert',
  'tls-key',
  'nodes',
  'redfish-port',
  'ipmi-port',
  'hardware',
  'bmc-user',
  'bmc-password',
  'bmc-password-file',
  'state-dir',
  'speed',
  'faults',
  'realistic',
  'steps',
  'name-prefix',
  'advertise',
  'open',
  'no-ui',
  'stop-with-stdin',
  'json',
  ...IMAGE_CACHE_OPTIONS,
  ...LIVE_IMAGE_OPTIONS,
  'image-port',
  ...AGENT_FLAGS,
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

export const BMC_OPTIONS = ['json'] as const
export const BMC_IMPORT_OPTIONS = ['dump-system', 'keep-identities', 'dump-out', 'json'] as const
export const BMC_DUMP_OPTIONS = [
  'bmc-user',
  'bmc-password',
  'bmc-password-file',
  'bmc-certificate',
  'insecure-bmc',
  'dump-out',
  'json',
] as const

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

export const DOCTOR_OPTIONS = ['json'] as const
export const CACHE_LIST_OPTIONS = ['cache-dir', 'json'] as const
export const CACHE_PRUNE_OPTIONS = ['cache-dir', 'cache-size', 'all', 'json'] as const
export const CACHE_VERIFY_OPTIONS = ['cache-dir', 'json'] as const

export const IMAGES_SERVE_OPTIONS = [
  ...LIVE_IMAGE_OPTIONS,
  'host',
  'allowed-host',
  'image-port',
  'public-url',
  'node',
  'json',
  ...AGENT_CONFIG_OPTIONS,
] as const

export const IGNITION_VALIDATE_OPTIONS = ['json'] as const
export const IGNITION_MERGE_OPTIONS = ['spec', 'follow'] as const
export const IGNITION_TRANSLATE_OPTIONS = ['spec'] as const
export const IGNITION_SHOW_OPTIONS = ['cat', 'json'] as const

export const REHEARSE_OPTIONS = [
  'all',
  'list',
  'cluster',
  'cluster-release',
  'story',
  'operators-as',
  'compare',
  'without',
  'seed',
  'json',
  'image-ca',
  ...REGISTRY_OPTIONS,
] as const

export const FLEET_OPTIONS = [
  ...namesOf(FLEET_SHAPES),
  'database',
  'database-schema',
  'database-password-file',
  'hardware',
  'redfish-port',
  'ipmi-port',
  'tls',
  'tls-cert',
  'tls-key',
  'allowed-host',
  'open',
  'no-ui',
  'ironic-url',
  'speed',
  'seed',
  'state-dir',
  'steps',
  ...IMAGE_CACHE_OPTIONS,
  'stop-with-stdin',
  'json',
] as const

export const CHAOS_OPTIONS = ['nodes', 'duration', 'seed', 'faults', 'out', 'no-shrink', 'json'] as const

export const RECORD_OPTIONS = [
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
] as const
export const REPLAY_OPTIONS = [
  'as',
  'host',
  'against',
  'known',
  'partial',
  'wait',
  'secret-values',
  'ca',
  'insecure',
  'json',
] as const
export const DIFF_OPTIONS = ['known', 'partial', 'json'] as const

export const HARDWARE_IMPORT_OPTIONS = ['keep-identities'] as const
export const HARDWARE_EXPORT_OPTIONS = ['url', 'hardware-format'] as const

export const BMH_EXPLAIN_OPTIONS = ['ironic-release', 'hardware', 'json'] as const

export const RUN_OPTIONS = [
  ...namesOf(HARDWARE_LAB_SHAPES),
  'plan',
  'check',
  'state-dir',
  'faults',
  'seed',
  'open',
  'no-ui',
  'json',
  ...IMAGE_CACHE_OPTIONS,
] as const
export const RUN_INIT_OPTIONS = ['force'] as const
export const RUN_ATTACH_OPTIONS = [
  'state-dir',
  'parallel',
  'serve-image',
  'junit',
  'markdown',
  'annotate',
  'html',
  'open',
  'no-ui',
  'json',
  ...IMAGE_CACHE_OPTIONS,
] as const
export const RUN_DISCOVER_OPTIONS = [
  'discover-port',
  'bmc-user',
  'bmc-password',
  'bmc-password-file',
  'out',
  'force',
  'json',
] as const

/** Options of commands that read published metadata and files. */
export const PUBLISHED_OPTIONS = [...IMAGE_CACHE_OPTIONS, ...REGISTRY_OPTIONS, ...namesOf(PUBLISHED_SHAPES)] as const
/** Options of commands that read a release in a registry and no published files. */
const RELEASE_OPTIONS = [...REGISTRY_OPTIONS, 'image-ca', 'insecure-fetch'] as const

export const STREAM_VALIDATE_OPTIONS = ['insecure-fetch', 'older-stream', 'json'] as const
export const STREAM_CONVERT_OPTIONS = [
  'to',
  'target-metadata',
  'stream-name',
  'builds-url',
  'no-signatures',
  'release-version',
  'output',
] as const
export const STREAM_LOOKUP_OPTIONS = [
  'architecture',
  'platform',
  'format',
  'file',
  'cloud',
  'region',
  'field',
  'pin',
  'pin-sha256',
  'json',
  ...PUBLISHED_OPTIONS,
] as const
export const STREAM_DIFF_OPTIONS = ['json', ...PUBLISHED_OPTIONS] as const
export const STREAM_PRINT_OPTIONS = PUBLISHED_OPTIONS
export const STREAM_PUBLISH_OPTIONS = ['json', ...PUBLISHED_OPTIONS] as const
export const STREAM_SERVE_OPTIONS = ['host', 'stream-port', 'json'] as const

export const DOWNLOAD_OPTIONS = [
  'stream',
  'architecture',
  'platform',
  'format',
  'directory',
  'decompress',
  'json',
  ...PUBLISHED_OPTIONS,
] as const

export const IMAGES_MAKE_OPTIONS = [
  'version',
  'arch',
  'system-name',
  'image-stream',
  'directory',
  'images-url',
  'force',
  'bootc',
  ...REGISTRY_OPTIONS,
  'image-ca',
  'insecure-fetch',
  'json',
] as const

export const BOOT_IMAGE_GENERATE_OPTIONS = [
  'stream',
  'architecture',
  'builds-url',
  'live-ignition',
  'directory',
  'runtime',
  ...PUBLISHED_OPTIONS,
] as const
export const BOOT_IMAGE_INFO_OPTIONS = ['builds-url', 'json', ...RELEASE_OPTIONS] as const

export const RELEASE_WRITE_OPTIONS = ['version', ...namesOf(RELEASE_SHAPES), 'json', ...RELEASE_OPTIONS] as const
export const RELEASE_INFO_OPTIONS = ['json', ...RELEASE_OPTIONS] as const

export const MACHINE_OS_BUILD_OPTIONS = [
  'stream',
  'architectures',
  'coreos-version',
  'json',
  ...PUBLISHED_OPTIONS,
] as const
export const MACHINE_OS_COPY_ISO_OPTIONS = ['source', 'kargs', 'fips', 'json'] as const
export const MACHINE_OS_COPY_PXE_OPTIONS = ['source', 'initrd-only', 'json'] as const
export const MACHINE_OS_COPY_METAL_OPTIONS = [
  'source',
  'kargs',
  'fips',
  'all',
  'pxe',
  'image-build',
  'coreos-version',
  'architecture',
  'json',
] as const
export const MACHINE_OS_VERIFY_OPTIONS = [
  'stream',
  'coreos-version',
  'build',
  'container',
  'json',
  ...PUBLISHED_OPTIONS,
] as const
