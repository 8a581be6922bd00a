import { AGENT_CONFIG_SHAPES } from './agent-config-options.js'
import { CAPABILITY_WORDS, NEWEST_SPEC, PROFILE_WORDS, RELEASE_WORDS, SPEC_WORDS } from '../output/words.js'

export interface OptionShape {
  /** What a value is called in the help. Flags have none. */
  value?: string
  /** For errors: a value of the expected form. */
  example?: string
  description: string
  /** JSON Schema of one value, the same for flag, environment variable and config key. */
  schema: { type: 'string' | 'integer' | 'number' | 'boolean' | 'array'; [keyword: string]: unknown }
}

const FLAG = { type: 'boolean' } as const
const TEXT = { type: 'string', minLength: 1 } as const
const TEXTS = { type: 'array', items: TEXT } as const
const WORDS = { type: 'array', items: { type: 'string', minLength: 1, pattern: '^\\S+$' } } as const
/** As the installer takes them, quotation marks and blanks included: `x="a b"`. */
const KARGS = { type: 'array', items: { type: 'string', minLength: 1, pattern: '^[^\\u0000\\r\\n]+$' } } as const
const SIZE = { type: 'string', pattern: '^[0-9]+(\\.[0-9]+)? ?([KMGT]i?B|B)?$' } as const
const ABSOLUTE_PATH = { type: 'string', pattern: '^/.' } as const

/**
 * Every option of every command, once: flag `--name`, environment variable `IRONSTAGE_NAME`, config key `name`.
 * Precedence: flag, environment, config file, default.
 */
export const OPTIONS = {
  host: {
    value: 'ADDRESS',
    description: 'address to listen on (default: 127.0.0.1)',
    schema: TEXT,
  },
  port: {
    value: 'PORT',
    example: '6385',
    description: 'port of the Ironic API; 0 picks a free one (default: 6385)',
    schema: { type: 'integer', minimum: 0, maximum: 65535 },
  },
  nodes: {
    value: 'N',
    example: '3',
    description: 'simulated machines to start with, each with a node in enroll and its ports (default: 0)',
    schema: { type: 'integer', minimum: 0, maximum: 10_000 },
  },
  profile: {
    value: PROFILE_WORDS.join('|'),
    description: "settings to start from: Metal3's, or Ironic's own defaults (default: metal3)",
    schema: { type: 'string', enum: [...PROFILE_WORDS] },
  },
  'ironic-release': {
    value: 'RELEASE',
    description: `Ironic release to behave as: ${RELEASE_WORDS.join(', ')} (default: master)`,
    schema: { type: 'string', enum: [...RELEASE_WORDS] },
  },
  set: {
    value: 'OPTION=VALUE',
    example: 'conductor.automated_clean=false',
    description: 'Ironic option, as in conductor.automated_clean=false; may be repeated',
    schema: { type: 'array', items: { type: 'string', pattern: '^[^=]+=' } },
  },
  htpasswd: {
    value: 'FILE',
    description:
      'require a password: users and hashes in this file, made with htpasswd -B (default: no password, this host only)',
    schema: TEXT,
  },
  tls: {
    description: 'serve HTTPS; makes a certificate unless --tls-cert names one',
    schema: FLAG,
  },
  'tls-cert': { value: 'FILE', description: 'certificate for --tls, PEM', schema: TEXT },
  'tls-key': { value: 'FILE', description: 'private key of --tls-cert, PEM', schema: TEXT },
  'bmc-user': { value: 'NAME', description: 'user of the BMCs (default: admin)', schema: TEXT },
  'bmc-password': {
    value: 'PASSWORD',
    description:
      'password of the BMCs; those in the state folder keep theirs (default: that of the first node that names each)',
    schema: TEXT,
  },
  'state-dir': {
    value: 'DIR',
    description: 'keep nodes, machines and disks in this folder (default: nothing outlives the command)',
    schema: TEXT,
  },
  secrets: { description: 'print passwords, tokens and Ignition configs too', schema: FLAG },
  speed: {
    value: 'X',
    example: '60',
    description: 'run the clock X times as fast (default: 1)',
    schema: { type: 'number', exclusiveMinimum: 0, maximum: 100_000 },
  },
  realistic: {
    description: 'take the time that a real agent and real hardware take (default: no time)',
    schema: FLAG,
  },
  json: { description: 'print one JSON object a line, for programs', schema: FLAG },
  'ironic-url': {
    value: 'URL',
    example: 'http://127.0.0.1:6385',
    description:
      'Ironic API to use; for deploy it must be an ironstage, and env takes the URL from OS_ENDPOINT or IRONIC_ENDPOINT ' +
      '(default: start one for this deployment)',
    schema: { type: 'string', pattern: '^(https?://.*|env)$' },
  },
  target: {
    value: 'TARGET',
    example: 'local:disk.img',
    description:
      'machine to work on: sim is a simulated one; local:FILE or local:/dev/disk/by-id/... is a file or disk of this host; ' +
      'local or ssh://user@host:port, with --device, is a disk of this host or of a machine behind SSH (default: sim)',
    schema: { type: 'string', pattern: '^(sim|local|local:.+|ssh://.+)$' },
  },
  device: {
    value: 'DISK',
    description:
      'the one disk of a real target that may be written: its serial number, WWN or name below /dev/disk/by-id; a kernel ' +
      'name only with --yes-erase',
    schema: TEXT,
  },
  'yes-erase': {
    value: 'SERIAL|WWN',
    description: 'serial number or WWN that the disk must have when --device is a kernel name',
    schema: TEXT,
  },
  allow: {
    value: 'WHAT',
    description: `what may be done to a real target besides writing its disk: ${CAPABILITY_WORDS.join(', ')}; may be repeated`,
    schema: { type: 'array', items: { type: 'string', enum: [...CAPABILITY_WORDS] } },
  },
  'target-is-disposable': {
    description: 'allow programs of any kind to change the target itself, not only its disk',
    schema: FLAG,
  },
  'target-root': {
    value: 'DIR',
    example: '/host',
    description:
      "root of the machine's own file system when ironstage runs in a container on it; programs run there by chroot",
    schema: ABSOLUTE_PATH,
  },
  installer: {
    value: 'PATH',
    example: '/usr/bin/coreos-installer',
    description: 'path of coreos-installer on the real target (default: the one on its PATH)',
    schema: ABSOLUTE_PATH,
  },
  'host-key': {
    value: '[PHASE=]SHA256:...',
    description:
      'host key to accept besides those in known_hosts: of the live system, or with installed= of the installed system; ' +
      'installed=proven accepts the key of the system that holds the secret that --verify-boot installs; ' +
      'may be repeated',
    schema: TEXTS,
  },
  'ssh-config': {
    value: 'FILE',
    description: "SSH client configuration, or none (default: ~/.ssh/config and the system's)",
    schema: TEXT,
  },
  'stage-image': {
    description:
      'copy the image into the memory of the machine behind SSH before installing, so that a lost link does no harm ' +
      '(default: stream it while installing)',
    schema: FLAG,
  },
  'verify-boot': {
    description: 'reboot the machine behind SSH and check that it boots the installed system; needs --allow reboot',
    schema: FLAG,
  },
  check: {
    description: 'only look at the real target, and show what would be destroyed',
    schema: FLAG,
  },
  image: {
    value: 'FILE|URL|stream:NAME',
    description:
      'CoreOS metal image, raw or compressed with gzip, xz or zstd; stream:NAME, or stream:URL of stream metadata, is the ' +
      'current image of a CoreOS stream (default: the rehearsal image)',
    schema: TEXT,
  },
  'cache-dir': {
    value: 'DIR',
    description: 'folder of the image cache (default: ironstage/images in XDG_CACHE_HOME or ~/.cache)',
    schema: TEXT,
  },
  'cache-as': {
    value: 'fetched|zstd',
    description: 'cache images as fetched, or recompress xz and gzip to zstd, which installs faster (default: fetched)',
    schema: { type: 'string', enum: ['fetched', 'zstd'] },
  },
  'cache-size': {
    value: 'SIZE',
    example: '20GiB',
    description: 'limit of the image cache; the least recently used images go first (default: 20GiB)',
    schema: SIZE,
  },
  'no-cache': {
    description: 'use no image cache: each installation fetches its image',
    schema: FLAG,
  },
  'image-ca': {
    value: 'FILE',
    description: 'certificate authorities to trust for image servers, PEM (default: those of Node.js)',
    schema: TEXT,
  },
  'image-key': {
    value: 'FILE',
    description:
      'OpenPGP key, armoured, to accept image signatures from, besides those of Fedora and Red Hat; may be repeated',
    schema: TEXTS,
  },
  all: { description: 'delete all images that are not in use', schema: FLAG },
  ignition: {
    value: 'FILE',
    description: 'Ignition config to install, - for standard input (default: a small example)',
    schema: TEXT,
  },
  'no-ignition-check': {
    description: 'install a config that Ignition would refuse, to see the first boot fail',
    schema: FLAG,
  },
  'append-karg': {
    value: 'ARG',
    example: 'console=ttyS0',
    description: 'kernel argument to add; may be repeated',
    schema: KARGS,
  },
  'delete-karg': {
    value: 'ARG',
    example: 'quiet',
    description: 'kernel argument to remove; may be repeated',
    schema: KARGS,
  },
  'disk-file': {
    value: 'FILE',
    description: "file to use as the machine's disk (default: a new file, named in the report)",
    schema: TEXT,
  },
  'disk-size': {
    value: 'SIZE',
    example: '20GiB',
    description: 'size of the disk, as in 10GiB or 20GB (default: 10GiB)',
    schema: SIZE,
  },
  overwrite: {
    description: 'overwrite --disk-file even if ironstage did not make it',
    schema: FLAG,
  },
  'node-uuid': {
    value: 'UUID',
    example: '2c4ad1f6-6d3b-4c9a-9c1e-0d5b8f7a1e11',
    description: "UUID of the agent's node, for a node that cannot be found by its MAC address",
    schema: { type: 'string', pattern: '^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$' },
  },
  mac: {
    value: 'MAC',
    example: '52:54:00:00:00:01',
    description: 'MAC address of the boot NIC (default: that of the simulated machine)',
    schema: { type: 'string', pattern: '^[0-9a-fA-F]{2}(:[0-9a-fA-F]{2}){5}$' },
  },
  machine: {
    value: 'ID',
    description: 'machine of the state folder to use (default: a new one)',
    schema: TEXT,
  },
  hardware: {
    value: 'FILE',
    description:
      'YAML file with the hardware of new simulated machines: cpus, disks, nics ... (default: a common server)',
    schema: TEXT,
  },
  listen: {
    value: 'HOST:PORT',
    example: '127.0.0.1:9999',
    description:
      'address that the agent listens on; port 0 picks a free one (default: as its options say, else 127.0.0.1:0)',
    schema: { type: 'string', pattern: '^(\\[[0-9a-fA-F:]+\\]|[^:\\s]+):[0-9]{1,5}$' },
  },
  'kernel-params': {
    value: 'PARAMS',
    description: 'kernel parameters of the agent\'s ramdisk, as in "ipa-api-url=URL ipa-inspection-callback-url=URL"',
    schema: TEXT,
  },
  respawn: {
    description: 'boot the ramdisk again after each power-off (default: exit)',
    schema: FLAG,
  },
  standalone: {
    description: 'serve the agent API to clients with the token, without an Ironic',
    schema: FLAG,
  },
  token: {
    value: 'TOKEN',
    example: 'SECRET',
    description: 'token of a standalone agent (default: a new one, printed at start)',
    schema: { type: 'string', minLength: 1, pattern: '^\\S+$' },
  },
  steps: {
    value: 'FILE',
    description: 'file or package with your own steps, TypeScript or JavaScript; may be repeated',
    schema: TEXTS,
  },
  args: {
    value: 'FILE|JSON',
    description: 'arguments of the step: a JSON object, a file with one, or - for standard input (default: none)',
    schema: TEXT,
  },
  plan: {
    description:
      'print what would be written instead of writing; a simulated machine is read, a real one is not contacted',
    schema: FLAG,
  },
  dir: {
    value: 'DIR',
    description: 'folder to write to (default: the current one)',
    schema: TEXT,
  },
  spec: {
    value: 'VERSION',
    description: `version of the Ignition spec to write (translate: ${NEWEST_SPEC}; merge: the newest that was given)`,
    schema: { type: 'string', enum: [...SPEC_WORDS] },
  },
  follow: {
    description: 'fetch the configs that ignition.config.merge and replace name, and merge them in',
    schema: FLAG,
  },
  cat: {
    value: 'PATH',
    description: 'print the contents that the config gives to this file',
    schema: TEXT,
  },
  'live-iso': {
    value: 'FILE',
    description: 'published live CoreOS ISO to serve; also the source of kernel, initramfs and rootfs',
    schema: TEXT,
  },
  'live-kernel': { value: 'FILE', description: 'kernel of a live CoreOS to serve for PXE', schema: TEXT },
  'live-initramfs': { value: 'FILE', description: 'initramfs of that live CoreOS', schema: TEXT },
  'live-rootfs': { value: 'FILE', description: 'root filesystem of that live CoreOS', schema: TEXT },
  'live-image': {
    value: 'DIR',
    description: 'folder with live images under their published names, for one or more architectures',
    schema: TEXT,
  },
  'image-port': {
    value: 'PORT',
    example: '8080',
    description: 'port that live images are served at; 0 picks a free one (default: 0)',
    schema: { type: 'integer', minimum: 0, maximum: 65535 },
  },
  'public-url': {
    value: 'URL',
    example: 'http://192.0.2.1:8080',
    description: 'URL by which machines reach the images (default: the address that is listened on)',
    schema: { type: 'string', pattern: '^https?://[^\\s$]+$' },
  },
  node: {
    value: 'NAME',
    example: 'machine-1',
    description: 'make an ISO and initramfs for this machine alone, with its host name; may be repeated',
    schema: WORDS,
  },
  ...AGENT_CONFIG_SHAPES,
} as const satisfies Record<string, OptionShape>

export type OptionName = keyof typeof OPTIONS

type ValueOf<S> = S extends { type: 'boolean' }
  ? boolean
  : S extends { type: 'integer' | 'number' }
    ? number
    : S extends { type: 'array' }
      ? string[]
      : string

export type Options<N extends OptionName> = { [K in N]?: ValueOf<(typeof OPTIONS)[K]['schema']> }

/** `append-karg` -> `IRONSTAGE_APPEND_KARG` */
export const variableOf = (name: OptionName): string => `IRONSTAGE_${name.toUpperCase().replaceAll('-', '_')}`
