import { AGENT_CONFIG_SHAPES } from './agent-config-options.js'
import { CAPABILITY_WORDS, NEWEST_SPEC, PROFILE_WORDS, RELEASE_WORDS, SPEC_WORDS } from './words.js'

interface OptionShape {
  /** What a value is called in the help. Flags have none. */
  value?: string
  description: string
  /** JSON Schema of one value, the same for flag, environment variable and config key. */
  schema: { type: 'string' | 'integer' | 'number' | 'boolean' | 'array'; [keyword: string]: unknown }
}

const FLAG = { type: 'boolean' } as const
const TEXT = { type: 'string', minLength: 1 } as const
const TEXTS = { type: 'array', items: TEXT } as const
const WORDS = { type: 'array', items: { type: 'string', minLength: 1, pattern: '^\\S+$' } } as const
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
    description: 'port of the Ironic API; 0 picks a free one (default: 6385)',
    schema: { type: 'integer', minimum: 0, maximum: 65535 },
  },
  nodes: {
    value: 'N',
    description: 'simulated machines to start with, each with a node in enroll and its ports (default: 0)',
    schema: { type: 'integer', minimum: 0, maximum: 10_000 },
  },
  profile: {
    value: PROFILE_WORDS.join('|'),
    description: "whose settings Ironic has: Metal3's or Ironic's own (default: metal3)",
    schema: { type: 'string', enum: [...PROFILE_WORDS] },
  },
  'ironic-release': {
    value: 'RELEASE',
    description: `which Ironic to be: ${RELEASE_WORDS.join(', ')} (default: master)`,
    schema: { type: 'string', enum: [...RELEASE_WORDS] },
  },
  set: {
    value: 'OPTION=VALUE',
    description: "an option of Ironic's by its own name, as in conductor.automated_clean=false; may be repeated",
    schema: { type: 'array', items: { type: 'string', pattern: '^[^=]+=' } },
  },
  htpasswd: {
    value: 'FILE',
    description: 'let in only the users of this file, made with htpasswd -B (default: everybody on this host)',
    schema: TEXT,
  },
  tls: {
    description: 'serve HTTPS; without --tls-cert with a certificate that is made',
    schema: FLAG,
  },
  'tls-cert': { value: 'FILE', description: 'certificate for --tls, PEM', schema: TEXT },
  'tls-key': { value: 'FILE', description: 'its private key, PEM', schema: TEXT },
  'state-dir': {
    value: 'DIR',
    description: 'keep nodes, machines and disks here (default: nothing outlives the command)',
    schema: TEXT,
  },
  speed: {
    value: 'X',
    description: 'let time pass X times as fast (default: 1)',
    schema: { type: 'number', exclusiveMinimum: 0, maximum: 100_000 },
  },
  realistic: {
    description: 'take as long as an agent and hardware do (default: agent and hardware take no time)',
    schema: FLAG,
  },
  json: { description: 'print one JSON object a line, for programs', schema: FLAG },
  'ironic-url': {
    value: 'URL',
    description:
      'the Ironic to work with (deploy: an ironstage that runs there, or env for the one that OS_ENDPOINT or ' +
      'IRONIC_ENDPOINT name; default: start one for this deployment)',
    schema: { type: 'string', pattern: '^(https?://.*|env)$' },
  },
  target: {
    value: 'TARGET',
    description:
      'what to work on: sim, a simulated machine; local:FILE or local:/dev/disk/by-id/..., a file or a disk of this host; ' +
      'local, with --device; ssh://user@host:port, with --device, a machine that is logged in to (default: sim)',
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
    description: 'what the disk must be that --device gives a kernel name of',
    schema: TEXT,
  },
  allow: {
    value: 'WHAT',
    description: `what may be done to a real target besides writing its disk: ${CAPABILITY_WORDS.join(', ')}; may be repeated`,
    schema: { type: 'array', items: { type: 'string', enum: [...CAPABILITY_WORDS] } },
  },
  'target-is-disposable': {
    description: 'nothing on the real target matters: it itself may be changed, by programs of any kind',
    schema: FLAG,
  },
  'target-root': {
    value: 'DIR',
    description: "the machine's own tree, when this runs in a container on it: programs are run there by chroot",
    schema: ABSOLUTE_PATH,
  },
  installer: {
    value: 'PATH',
    description: 'coreos-installer of a real target (default: the one on its PATH)',
    schema: ABSOLUTE_PATH,
  },
  'host-key': {
    value: '[PHASE=]SHA256:...',
    description:
      'host key of a machine behind SSH, beside those in known_hosts; of its live system, or with installed= of the one ' +
      'that it boots in the end, where installed=proven takes the one that has the secret which --verify-boot installs; ' +
      'may be repeated',
    schema: TEXTS,
  },
  'ssh-config': {
    value: 'FILE',
    description: "configuration to use instead of ~/.ssh/config and the system's, or none (default: both)",
    schema: TEXT,
  },
  'stage-image': {
    description:
      'bring the image onto the machine behind SSH, into its memory, before it is installed: a link that goes then costs ' +
      'nothing (default: it is passed on while it is installed)',
    schema: FLAG,
  },
  'verify-boot': {
    description:
      'wait until the machine behind SSH has booted what was installed, and look whether it is that; needs --allow reboot',
    schema: FLAG,
  },
  check: {
    description: 'only look at a real target, and show what would be destroyed',
    schema: FLAG,
  },
  image: {
    value: 'FILE|URL|stream:NAME',
    description:
      'CoreOS metal image: raw, or compressed with gzip, xz or zstd; stream:NAME, or stream:URL of stream metadata, for the ' +
      'one that a CoreOS stream names now (default: the rehearsal image)',
    schema: TEXT,
  },
  'cache-dir': {
    value: 'DIR',
    description: 'keep images that were fetched here (default: ironstage/images in XDG_CACHE_HOME or ~/.cache)',
    schema: TEXT,
  },
  'cache-as': {
    value: 'fetched|zstd',
    description:
      'keep images as they were fetched, or those in xz and gzip as zstd, which installs faster (default: fetched)',
    schema: { type: 'string', enum: ['fetched', 'zstd'] },
  },
  'cache-size': {
    value: 'SIZE',
    description: 'how much room kept images may take; the least lately used go (default: 20GiB)',
    schema: SIZE,
  },
  'no-cache': {
    description: 'keep no images: each installation fetches its own',
    schema: FLAG,
  },
  'image-ca': {
    value: 'FILE',
    description: 'authorities to believe of image servers, PEM (default: those that Node.js brings)',
    schema: TEXT,
  },
  'image-key': {
    value: 'FILE',
    description:
      'armoured OpenPGP key that images may be signed with, besides those of Fedora and Red Hat; may be repeated',
    schema: TEXTS,
  },
  all: { description: 'delete all images that nobody installs from', schema: FLAG },
  ignition: {
    value: 'FILE',
    description: 'Ignition config to install, - for standard input (default: a small example)',
    schema: TEXT,
  },
  'no-ignition-check': {
    description: 'take a config that Ignition would refuse, and see the machine fail at first boot',
    schema: FLAG,
  },
  'append-karg': {
    value: 'ARG',
    description: 'kernel argument to add; may be repeated',
    schema: WORDS,
  },
  'delete-karg': {
    value: 'ARG',
    description: 'kernel argument to take away; may be repeated',
    schema: WORDS,
  },
  'disk-file': {
    value: 'FILE',
    description: "the machine's disk (default: a new file, its name is in the report)",
    schema: TEXT,
  },
  'disk-size': {
    value: 'SIZE',
    description: 'its size, as in 10GiB or 20GB (default: 10GiB)',
    schema: SIZE,
  },
  overwrite: {
    description: 'use the disk file even though ironstage did not make it',
    schema: FLAG,
  },
  'node-uuid': {
    value: 'UUID',
    description: "the agent's node, where the MAC address does not lead to it",
    schema: { type: 'string', pattern: '^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$' },
  },
  mac: {
    value: 'MAC',
    description: 'MAC address of the NIC that the machine boots from (default: that of the simulated machine)',
    schema: { type: 'string', pattern: '^[0-9a-fA-F]{2}(:[0-9a-fA-F]{2}){5}$' },
  },
  machine: {
    value: 'ID',
    description: 'which machine of the state folder to use (default: a new one)',
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
    description:
      'where the agent answers; port 0 picks a free one (default: what its options say, or else 127.0.0.1:0)',
    schema: { type: 'string', pattern: '^(\\[[0-9a-fA-F:]+\\]|[^:\\s]+):[0-9]{1,5}$' },
  },
  'kernel-params': {
    value: 'PARAMS',
    description: 'kernel parameters of the agent\'s ramdisk, as in "ipa-api-url=URL ipa-inspection-callback-url=URL"',
    schema: TEXT,
  },
  respawn: {
    description: 'boot the ramdisk again whenever the machine was switched off (default: end then)',
    schema: FLAG,
  },
  standalone: {
    description: 'serve the API of the agent to whoever has the token, without any Ironic',
    schema: FLAG,
  },
  token: {
    value: 'TOKEN',
    description: 'token of a standalone agent (default: a new one, which is printed)',
    schema: { type: 'string', minLength: 1, pattern: '^\\S+$' },
  },
  steps: {
    value: 'FILE',
    description: 'file or package with steps of your own, in TypeScript or JavaScript; may be repeated',
    schema: TEXTS,
  },
  args: {
    value: 'FILE|JSON',
    description: "the step's arguments: a JSON object, a file that holds one, or - for standard input (default: none)",
    schema: TEXT,
  },
  plan: {
    description: 'only print what would be written; a simulated machine is really read, a real one not even contacted',
    schema: FLAG,
  },
  dir: {
    value: 'DIR',
    description: 'folder to write to (default: this one)',
    schema: TEXT,
  },
  spec: {
    value: 'VERSION',
    description: `version of the Ignition spec to write (translate: ${NEWEST_SPEC}; merge: the newest that was given)`,
    schema: { type: 'string', enum: [...SPEC_WORDS] },
  },
  follow: {
    description: 'fetch what the configs refer to (ignition.config.merge and replace) and put it in',
    schema: FLAG,
  },
  cat: {
    value: 'PATH',
    description: 'print what the config writes to this file',
    schema: TEXT,
  },
  'live-iso': {
    value: 'FILE',
    description: 'live CoreOS ISO to serve, as published; kernel, initramfs and rootfs are taken from it too',
    schema: TEXT,
  },
  'live-kernel': { value: 'FILE', description: 'kernel of a live CoreOS to serve for PXE', schema: TEXT },
  'live-initramfs': { value: 'FILE', description: 'its initramfs', schema: TEXT },
  'live-rootfs': { value: 'FILE', description: 'its root filesystem', schema: TEXT },
  'live-image': {
    value: 'DIR',
    description: 'folder with such files, by the names that they are published under, of one or more architectures',
    schema: TEXT,
  },
  'image-port': {
    value: 'PORT',
    description: 'port that live images are served at; 0 picks a free one (default: 0)',
    schema: { type: 'integer', minimum: 0, maximum: 65535 },
  },
  'public-url': {
    value: 'URL',
    description: 'how machines reach the images, where that is not where they are served',
    schema: { type: 'string', pattern: '^https?://[^\\s$]+$' },
  },
  node: {
    value: 'NAME',
    description: 'a machine that gets an ISO and initramfs of its own, with its name; may be repeated',
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
