import { REAL_CAPABILITIES } from '../../runs/index.js'
import { DURATION_PATTERN } from '../../../base/runtime/index.js'

const hostsTextSchema = { type: 'string', minLength: 1 } as const
const hostsTextsSchema = { type: 'array', items: hostsTextSchema } as const
const duration = { type: 'string', pattern: DURATION_PATTERN, description: 'a length of time such as 90s or 1h30m' }
const size = {
  type: ['string', 'integer'],
  pattern: '^[0-9]+(\\.[0-9]+)? ?([KkMmGgTt][Ii]?[Bb]|[Bb])?$',
  description: 'bytes, or a size such as 16GiB',
}
/** Addresses get into command lines of ssh and ipmitool: none has blanks or quotes, or looks like an option. */
const addressSchema = { type: 'string', pattern: '^(?!(.*@)?-)[^\\s\'"\\\\`$;&|<>()]+$' } as const

const secret = {
  description: 'where a secret comes from: env, file or command; text puts it into this file',
  type: 'object',
  minProperties: 1,
  maxProperties: 1,
  additionalProperties: false,
  properties: {
    env: { ...hostsTextSchema, description: 'name of an environment variable' },
    file: { ...hostsTextSchema, description: 'file whose first line is the secret' },
    command: { ...hostsTextsSchema, minItems: 1, description: 'program and arguments that print the secret' },
    text: { ...hostsTextSchema, description: 'the secret itself, in this file' },
  },
} as const

const fingerprint = {
  type: 'string',
  pattern: '^(sha256:)?([0-9a-fA-F]{2}:?){32}$',
  description: 'SHA-256 fingerprint of a certificate in hex, as openssl x509 -fingerprint -sha256 prints it',
} as const

/** Stages of a host, in their order: those of a run of its own, and those of one through an Ironic. */
export const STAGE_NAMES = [
  ...(['bmc', 'boot', 'ssh', 'check', 'register', 'inspect', 'clean', 'steps', 'deploy', 'power'] as const),
  ...(['first-boot', 'post-checks'] as const),
] as const

const stage = {
  type: 'object',
  additionalProperties: false,
  properties: {
    time: { ...duration, title: 'limit of one attempt' },
    retries: { type: 'integer', minimum: 0, maximum: 20, description: 'attempts after the first one' },
    pause: { ...duration, title: 'pause before each of them' },
  },
} as const

const bmc = {
  type: 'object',
  additionalProperties: false,
  properties: {
    redfish: { type: 'string', pattern: '^https?://.', description: 'URL of a Redfish service' },
    ipmi: { ...addressSchema, description: 'the address of a BMC that speaks IPMI, with :PORT where it is not 623' },
    system: { ...hostsTextSchema, description: 'path of the system; needed where a service has several' },
    username: { anyOf: [hostsTextSchema, secret] },
    password: secret,
    certificate: fingerprint,
    insecure: { type: 'boolean', description: 'accept any certificate' },
    console: {
      enum: ['none', 'log', 'sol', 'redfish'],
      description:
        'log: read its log in the end (default); sol, redfish: capture the serial console too; none: neither',
    },
  },
} as const

const ssh = {
  type: 'object',
  additionalProperties: false,
  properties: {
    address: { ...addressSchema, description: 'a name or address, with :PORT where it is not 22' },
    user: { ...hostsTextSchema, description: 'a user who is root or may use sudo; core by default' },
    key: { ...hostsTextSchema, description: 'file of a private key' },
    'host-keys': {
      ...hostsTextsSchema,
      description: 'fingerprints, SHA256:...; of the installed system with installed= in front',
    },
    config: { ...hostsTextSchema, description: 'SSH client configuration, or none' },
  },
} as const

const hostDiskSchema = {
  type: 'object',
  additionalProperties: false,
  minProperties: 1,
  properties: {
    serial: { ...hostsTextSchema, description: 'serial number of the one disk that is written' },
    wwn: { type: 'string', pattern: '^(0x|eui\\.|naa\\.|nvme\\.|uuid\\.).', description: 'its WWN' },
    'by-id': { ...hostsTextSchema, description: 'its name below /dev/disk/by-id' },
    'by-path': { ...hostsTextSchema, description: 'its name below /dev/disk/by-path, for one without serial and wwn' },
    size: { ...size, title: 'size that the disk at by-path must have' },
    name: { ...hostsTextSchema, description: 'its kernel name; needs serial or wwn too' },
  },
} as const

const postCheckSchema = {
  type: 'object',
  additionalProperties: false,
  required: ['command'],
  properties: {
    command: {
      anyOf: [hostsTextSchema, { ...hostsTextsSchema, minItems: 1 }],
      description: 'shell text, or program and arguments',
    },
    output: { type: 'string', description: 'text that it prints, without blanks around it' },
    matches: { ...hostsTextSchema, description: 'regular expression that its output matches' },
    exit: { type: 'integer', minimum: 0, maximum: 255, description: 'its exit code; 0 by default' },
  },
} as const

const hostProperties = {
  labels: { ...hostsTextsSchema, description: 'words for --only' },
  bmc,
  console: {
    description: 'serial console to capture: by ssh, or by a command that prints it',
    type: 'object',
    minProperties: 1,
    additionalProperties: false,
    properties: {
      ssh: { ...addressSchema, description: 'user@address:port of a console server' },
      line: { ...hostsTextSchema, description: 'command there that shows the console' },
      key: { ...hostsTextSchema, description: 'file of a private key' },
      config: { ...hostsTextSchema, description: 'SSH client configuration, or none' },
      command: { ...hostsTextsSchema, minItems: 1, description: 'program and arguments on this machine' },
    },
  },
  macs: { type: 'array', items: { type: 'string', pattern: '^([0-9a-fA-F]{2}:){5}[0-9a-fA-F]{2}$' } },
  disk: hostDiskSchema,
  live: {
    description: 'how the live system comes up',
    type: 'object',
    additionalProperties: false,
    minProperties: 1,
    maxProperties: 1,
    properties: {
      iso: { type: 'string', pattern: '^https?://.', description: 'URL of a live ISO for virtual media' },
      http: { type: 'string', pattern: '^https?://.', description: 'URL for UEFI HTTP boot' },
      pxe: { const: true, description: 'boot from the network' },
      booted: { const: true, description: 'it runs already' },
    },
  },
  ssh,
  ignition: {
    description: 'Ignition config of the installed system: a file, a template, or Butane',
    anyOf: [
      hostsTextSchema,
      {
        type: 'object',
        additionalProperties: false,
        minProperties: 1,
        properties: {
          template: { ...hostsTextSchema, description: 'file with {{name}} and other values of the host' },
          butane: { ...hostsTextSchema, description: 'Butane config; needs butane' },
          values: { type: 'object', additionalProperties: { type: ['string', 'number', 'boolean'] } },
        },
      },
    ],
  },
  image: {
    type: 'string',
    pattern: '^(https?://.|/|\\./)',
    description: 'metal image; that of the live system by default',
  },
  'image-sha256': { type: 'string', pattern: '^[0-9a-fA-F]{64}$' },
  steps: {
    description: 'steps on the live system, in order; install_coreos by default',
    type: 'array',
    minItems: 1,
    items: {
      anyOf: [
        hostsTextSchema,
        {
          type: 'object',
          additionalProperties: false,
          required: ['step'],
          properties: { step: hostsTextSchema, args: { type: 'object' } },
        },
      ],
    },
  },
  'step-files': { ...hostsTextsSchema, description: 'files of own steps' },
  'append-kargs': hostsTextsSchema,
  'delete-kargs': hostsTextsSchema,
  hostname: { ...hostsTextSchema, description: 'name of the installed system; the name of the host by default' },
  expect: {
    description: 'hardware that the host must have',
    type: 'object',
    additionalProperties: false,
    properties: {
      serial: { ...hostsTextSchema, description: 'serial number of the system' },
      product: hostsTextSchema,
      cpus: { type: 'integer', minimum: 1 },
      memory: size,
      'disk-size': size,
      'disk-model': hostsTextSchema,
    },
  },
  ironic: {
    description: 'settings of its node, for --through-ironic',
    type: 'object',
    additionalProperties: false,
    properties: {
      node: { ...hostsTextSchema, description: 'name of the node; the name of the host by default' },
      'driver-info': { type: 'object', description: 'further driver_info, such as redfish_verify_ca or deploy_iso' },
      'boot-interface': {
        ...hostsTextSchema,
        description: 'redfish-virtual-media, redfish-https or ipxe; by live by default',
      },
    },
  },
  allow: { type: 'array', items: { enum: REAL_CAPABILITIES }, description: 'as --allow of ironstage deploy' },
  'target-is-disposable': { type: 'boolean' },
  installer: { ...hostsTextSchema, description: 'path of coreos-installer on the live system' },
  'verify-boot': { type: 'boolean', description: 'prove that the installed system boots; true by default' },
  'post-checks': { type: 'array', items: postCheckSchema, description: 'commands on the installed system' },
  stages: {
    description: 'limits of the stages',
    type: 'object',
    additionalProperties: false,
    properties: Object.fromEntries(STAGE_NAMES.map((name) => [name, stage])),
  },
} as const

const host = { type: 'object', additionalProperties: false, properties: hostProperties }

/** JSON Schema of a file of hosts, for editors too. */
export const HOSTS_SCHEMA = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  title: 'Hosts of ironstage run',
  type: 'object',
  additionalProperties: false,
  required: ['hosts'],
  properties: {
    run: {
      description: 'settings of the whole run; options of the command come first',
      type: 'object',
      additionalProperties: false,
      properties: {
        parallel: { type: 'integer', minimum: 1, maximum: 256, description: 'hosts at a time; 4 by default' },
        'max-failures': {
          type: 'integer',
          minimum: 1,
          description: 'number of failed hosts after which no further host is started',
        },
        canary: { ...hostsTextSchema, description: 'host that goes first, alone' },
      },
    },
    defaults: { ...host, description: 'settings of every host that does not have its own' },
    hosts: {
      type: 'object',
      minProperties: 1,
      propertyNames: { pattern: '^[a-z0-9]([a-z0-9.-]{0,61}[a-z0-9])?$' },
      additionalProperties: host,
    },
  },
} as const
