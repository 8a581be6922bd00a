import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv'
import { readFile } from 'node:fs/promises'
import { CAPABILITIES, IRONIC_RELEASES, NEWEST_STABLE, PROFILES, SPEC_VERSIONS, UserError } from '../lab/index.js'
import { SECRET_VARIABLES } from './secrets.js'

interface OptionShape {
  /** What a value is called in the help. Flags have none. */
  value?: string
  description: string
  /** JSON Schema of one value, the same for flag, environment variable and config key. */
  schema: { type: 'string' | 'integer' | 'number' | 'boolean' | 'array'; [keyword: string]: unknown }
}

/**
 * Every option of every command, once: flag `--name`, environment variable `IRONSTAGE_NAME`, config key `name`.
 * Precedence: flag, environment, config file, default.
 */
export const OPTIONS = {
  host: {
    value: 'ADDRESS',
    description: 'address to listen on (default: 127.0.0.1)',
    schema: { type: 'string', minLength: 1 },
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
    value: Object.keys(PROFILES).join('|'),
    description: "whose settings Ironic has: Metal3's or Ironic's own (default: metal3)",
    schema: { type: 'string', enum: Object.keys(PROFILES) },
  },
  'ironic-release': {
    value: 'RELEASE',
    description: `which Ironic to be: ${Object.keys(IRONIC_RELEASES).join(', ')} (default: master)`,
    schema: { type: 'string', enum: Object.keys(IRONIC_RELEASES) },
  },
  set: {
    value: 'OPTION=VALUE',
    description: "an option of Ironic's by its own name, as in conductor.automated_clean=false; may be repeated",
    schema: { type: 'array', items: { type: 'string', pattern: '^[^=]+=' } },
  },
  htpasswd: {
    value: 'FILE',
    description: 'let in only the users of this file, made with htpasswd -B (default: everybody on this host)',
    schema: { type: 'string', minLength: 1 },
  },
  tls: {
    description: 'serve HTTPS; without --tls-cert with a certificate that is made',
    schema: { type: 'boolean' },
  },
  'tls-cert': { value: 'FILE', description: 'certificate for --tls, PEM', schema: { type: 'string', minLength: 1 } },
  'tls-key': { value: 'FILE', description: 'its private key, PEM', schema: { type: 'string', minLength: 1 } },
  'state-dir': {
    value: 'DIR',
    description: 'keep nodes, machines and disks here (default: nothing outlives the command)',
    schema: { type: 'string', minLength: 1 },
  },
  speed: {
    value: 'X',
    description: 'let time pass X times as fast (default: 1)',
    schema: { type: 'number', exclusiveMinimum: 0, maximum: 100_000 },
  },
  realistic: {
    description: 'take as long as an agent and hardware do (default: agent and hardware take no time)',
    schema: { type: 'boolean' },
  },
  json: { description: 'print one JSON object a line, for programs', schema: { type: 'boolean' } },
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
    schema: { type: 'string', minLength: 1 },
  },
  'yes-erase': {
    value: 'SERIAL|WWN',
    description: 'what the disk must be that --device gives a kernel name of',
    schema: { type: 'string', minLength: 1 },
  },
  allow: {
    value: CAPABILITIES.join('|'),
    description: 'something that is to be done to a real target beside writing its disk; may be repeated',
    schema: { type: 'array', items: { type: 'string', enum: [...CAPABILITIES] } },
  },
  'target-is-disposable': {
    description: 'nothing on the real target matters: it itself may be changed, by programs of any kind',
    schema: { type: 'boolean' },
  },
  'target-root': {
    value: 'DIR',
    description: "the machine's own tree, when this runs in a container on it: programs are run there by chroot",
    schema: { type: 'string', pattern: '^/.' },
  },
  installer: {
    value: 'PATH',
    description: 'coreos-installer of a real target (default: the one on its PATH)',
    schema: { type: 'string', pattern: '^/.' },
  },
  'host-key': {
    value: '[PHASE=]SHA256:...',
    description:
      'host key of a machine behind SSH, beside those in known_hosts; of its live system, or with installed= of the one ' +
      'that it boots in the end, where installed=proven takes the one that has the secret which --verify-boot installs; ' +
      'may be repeated',
    schema: { type: 'array', items: { type: 'string', minLength: 1 } },
  },
  'ssh-config': {
    value: 'FILE',
    description: "configuration to use instead of ~/.ssh/config and the system's, or none (default: both)",
    schema: { type: 'string', minLength: 1 },
  },
  'verify-boot': {
    description:
      'wait until the machine behind SSH has booted what was installed, and look whether it is that; needs --allow reboot',
    schema: { type: 'boolean' },
  },
  check: {
    description: 'only look at a real target, and show what would be destroyed',
    schema: { type: 'boolean' },
  },
  image: {
    value: 'FILE|URL|stream:NAME',
    description:
      'CoreOS metal image: raw, or compressed with gzip, xz or zstd; stream:NAME, or stream:URL of stream metadata, for the ' +
      'one that a CoreOS stream names now (default: the rehearsal image)',
    schema: { type: 'string', minLength: 1 },
  },
  'cache-dir': {
    value: 'DIR',
    description: 'keep images that were fetched here (default: ironstage/images in XDG_CACHE_HOME or ~/.cache)',
    schema: { type: 'string', minLength: 1 },
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
    schema: { type: 'string', pattern: '^[0-9]+(\\.[0-9]+)? ?([KMGT]i?B|B)?$' },
  },
  'no-cache': {
    description: 'keep no images: each installation fetches its own',
    schema: { type: 'boolean' },
  },
  'image-ca': {
    value: 'FILE',
    description: 'authorities to believe of image servers, PEM (default: those that Node.js brings)',
    schema: { type: 'string', minLength: 1 },
  },
  'image-key': {
    value: 'FILE',
    description:
      'armoured OpenPGP key that images may be signed with, besides those of Fedora and Red Hat; may be repeated',
    schema: { type: 'array', items: { type: 'string', minLength: 1 } },
  },
  all: { description: 'delete all images that nobody installs from', schema: { type: 'boolean' } },
  ignition: {
    value: 'FILE',
    description: 'Ignition config to install, - for standard input (default: a small example)',
    schema: { type: 'string', minLength: 1 },
  },
  'no-ignition-check': {
    description: 'take a config that Ignition would refuse, and see the machine fail at first boot',
    schema: { type: 'boolean' },
  },
  'append-karg': {
    value: 'ARG',
    description: 'kernel argument to add; may be repeated',
    schema: { type: 'array', items: { type: 'string', minLength: 1, pattern: '^\\S+$' } },
  },
  'delete-karg': {
    value: 'ARG',
    description: 'kernel argument to take away; may be repeated',
    schema: { type: 'array', items: { type: 'string', minLength: 1, pattern: '^\\S+$' } },
  },
  'disk-file': {
    value: 'FILE',
    description: "the machine's disk (default: a new file, its name is in the report)",
    schema: { type: 'string', minLength: 1 },
  },
  'disk-size': {
    value: 'SIZE',
    description: 'its size, as in 10GiB or 20GB (default: 10GiB)',
    schema: { type: 'string', pattern: '^[0-9]+(\\.[0-9]+)? ?([KMGT]i?B|B)?$' },
  },
  overwrite: {
    description: 'use the disk file even though ironstage did not make it',
    schema: { type: 'boolean' },
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
    schema: { type: 'string', minLength: 1 },
  },
  hardware: {
    value: 'FILE',
    description: 'YAML file that says what a new machine is made of: cpus, disks, nics ... (default: a common server)',
    schema: { type: 'string', minLength: 1 },
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
    schema: { type: 'string', minLength: 1 },
  },
  respawn: {
    description: 'boot the ramdisk again whenever the machine was switched off (default: end then)',
    schema: { type: 'boolean' },
  },
  standalone: {
    description: 'serve the API of the agent to whoever has the token, without any Ironic',
    schema: { type: 'boolean' },
  },
  token: {
    value: 'TOKEN',
    description: 'token of a standalone agent (default: a new one, which is printed)',
    schema: { type: 'string', minLength: 1, pattern: '^\\S+$' },
  },
  steps: {
    value: 'FILE',
    description: 'file or package with steps of your own, in TypeScript or JavaScript; may be repeated',
    schema: { type: 'array', items: { type: 'string', minLength: 1 } },
  },
  args: {
    value: 'FILE|JSON',
    description: "the step's arguments: a JSON object, a file that holds one, or - for standard input (default: none)",
    schema: { type: 'string', minLength: 1 },
  },
  plan: {
    description: 'only print what would be written; a simulated machine is really read, a real one not even contacted',
    schema: { type: 'boolean' },
  },
  dir: {
    value: 'DIR',
    description: 'folder to write to (default: this one)',
    schema: { type: 'string', minLength: 1 },
  },
  spec: {
    value: 'VERSION',
    description: `version of the Ignition spec to write (translate: ${NEWEST_STABLE}; merge: the newest that was given)`,
    schema: { type: 'string', enum: [...SPEC_VERSIONS] },
  },
  follow: {
    description: 'fetch what the configs refer to (ignition.config.merge and replace) and put it in',
    schema: { type: 'boolean' },
  },
  cat: {
    value: 'PATH',
    description: 'print what the config writes to this file',
    schema: { type: 'string', minLength: 1 },
  },
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

interface Source {
  /** For messages: `--port`, `IRONSTAGE_PORT`, `port in lab.yaml`. */
  label: (name: string) => string
  values: Record<string, unknown>
}

/**
 * Puts together what flags, environment and config file say and checks each by the one schema.
 *
 * @param flags as commander hands them over: strings, booleans, arrays of strings, by option name
 * @throws UserError (usage) that names the option, where it was given, and what is wrong with it
 */
export async function resolveOptions<N extends OptionName>(
  names: readonly N[],
  flags: Readonly<Record<string, unknown>>,
  variables: Readonly<Record<string, string | undefined>>,
): Promise<Options<N>> {
  const { config, ...ownFlags } = flags
  const configFile = (config as string | undefined) ?? variables['IRONSTAGE_CONFIG']
  const sources = [
    ...(configFile === undefined ? [] : [await configSource(configFile, names)]),
    environmentSource(variables, names),
    { label: (name: string) => `--${name}`, values: ownFlags },
  ]
  const resolved: Record<string, unknown> = {}
  for (const source of sources)
    for (const name of names) {
      const value = source.values[name]
      if (value !== undefined) resolved[name] = check(name, value, source.label(name))
    }
  return resolved as Options<N>
}

async function configSource(file: string, names: readonly OptionName[]): Promise<Source> {
  const usage = (message: string, remedy: string, cause?: unknown) =>
    new UserError('config-file', message, { kind: 'usage', remedy, ...(cause === undefined ? {} : { cause }) })
  let values: unknown
  try {
    // Only whoever has a config file waits for the parser to load.
    const { parse } = await import('yaml')
    values = parse(await readFile(file, 'utf8')) ?? {}
  } catch (cause) {
    throw usage(`the config file ${file} cannot be read`, 'name a YAML file with --config', cause)
  }
  if (typeof values !== 'object' || Array.isArray(values) || values === null)
    throw usage(`the config file ${file} is not a set of keys and values`, 'write one option a line, as in port: 6385')
  for (const key of Object.keys(values))
    if (!(key in OPTIONS))
      throw usage(`the config file ${file} has an unknown key ${key}`, `known here: ${names.join(', ')}`)
  return { label: (name) => `${name} in ${file}`, values: values as Record<string, unknown> }
}

/** Secrets are no options, since those can be on a command line and in a file. */
const NO_OPTIONS = ['IRONSTAGE_CONFIG', ...SECRET_VARIABLES]

function environmentSource(
  variables: Readonly<Record<string, string | undefined>>,
  names: readonly OptionName[],
): Source {
  const known = new Map(Object.keys(OPTIONS).map((name) => [variableOf(name as OptionName), name]))
  const values: Record<string, unknown> = {}
  for (const [variable, value] of Object.entries(variables)) {
    if (!variable.startsWith('IRONSTAGE_') || NO_OPTIONS.includes(variable) || value === undefined) continue
    const name = known.get(variable)
    if (name === undefined)
      throw new UserError('unknown-variable', `the environment has ${variable}, which is no option of ironstage`, {
        kind: 'usage',
        remedy: `unset it; known here: ${names.map(variableOf).join(', ')}`,
      })
    if (value !== '') values[name] = value
  }
  return { label: (name) => variableOf(name as OptionName), values }
}

// Flags and variables are text; ajv's coercion reads numbers and booleans out of it by the same schema.
// The schemas above are ours: holding them against JSON Schema's own takes longer than reading all options.
const ajv = new Ajv({ coerceTypes: true, strict: true, allowUnionTypes: true, meta: false, validateSchema: false })
const validators = new Map<OptionName, ValidateFunction<{ value: unknown }>>()

/** Compiled when an option is given: all of them take longer than the rest of a start. */
function validatorOf(name: OptionName): ValidateFunction<{ value: unknown }> {
  const known = validators.get(name)
  if (known) return known
  const { schema } = OPTIONS[name]
  const made = ajv.compile<{ value: unknown }>({ type: 'object', properties: { value: schema }, required: ['value'] })
  validators.set(name, made)
  return made
}

function check(name: OptionName, given: unknown, label: string): unknown {
  const isList = OPTIONS[name].schema.type === 'array'
  const holder = { value: isList && typeof given === 'string' ? given.split(/\s+/).filter(Boolean) : given }
  const validate = validatorOf(name)
  if (validate(holder)) return holder.value
  throw new UserError('bad-option', `${label} is ${JSON.stringify(given)}, which ${problem(validate.errors![0]!)}`, {
    kind: 'usage',
    remedy: OPTIONS[name].description,
  })
}

function problem(error: ErrorObject): string {
  const params = error.params as Record<string, unknown>
  switch (error.keyword) {
    case 'type':
      return `is not ${params['type'] === 'integer' ? 'a whole number' : `a ${String(params['type'])}`}`
    case 'enum':
      return `is not one of ${(params['allowedValues'] as string[]).join(', ')}`
    case 'pattern':
      return 'is not of the expected form'
    default:
      return error.message ?? 'is not valid'
  }
}

const UNITS: Record<string, number> = {
  '': 1,
  B: 1,
  KB: 1e3,
  MB: 1e6,
  GB: 1e9,
  TB: 1e12,
  KIB: 2 ** 10,
  MIB: 2 ** 20,
  GIB: 2 ** 30,
  TIB: 2 ** 40,
}

/** Bytes of a size as `--disk-size` takes it, rounded down to a whole MiB as disks are. */
export function parseSize(text: string): number {
  const [, number, unit] = /^([0-9.]+) ?([A-Za-z]*)$/.exec(text) ?? []
  const bytes = Number(number) * (UNITS[(unit ?? '').toUpperCase()] ?? NaN)
  return Math.floor(bytes / 2 ** 20) * 2 ** 20
}
