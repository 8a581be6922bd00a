import { DURATION_PATTERN } from '../../../../base/runtime/index.js'
import { ACTOR_WORDS, BEGIN_WORDS, MACHINE_PLACES, PROFILE_WORDS, ROLE_WORDS } from '../value-words.js'
import { FLAG, OPTION_TEXT_SCHEMA, type CommandOptionShape } from './option-shape.js'

/** Options of `up` that no other command has: a row here is one of them. */
export const UP_SHAPES = {
  profile: {
    value: PROFILE_WORDS.join('|'),
    description: "default settings: Metal3's, OpenShift's or Ironic's own (default: metal3)",
    schema: { type: 'string', enum: [...PROFILE_WORDS] },
  },
  begin: {
    value: BEGIN_WORDS.join('|'),
    description:
      'carry out the verbs up to this one on the nodes of --nodes; deploy installs CoreOS (default: nodes stay in enroll)',
    schema: { type: 'string', enum: [...BEGIN_WORDS] },
  },
  machines: {
    value: MACHINE_PLACES.join('|'),
    example: 'elsewhere',
    description:
      'where the machines of nodes are: here, simulated in this process, or elsewhere, behind the Redfish BMCs that driver_info names, as those of ironstage fleet are (default: here)',
    schema: { type: 'string', enum: [...MACHINE_PLACES] },
  },
  database: {
    value: 'URL',
    example: 'postgres://ironic@db.example/ironic',
    description:
      'PostgreSQL database that several of these processes share, whose machines are elsewhere; postgres:// for the one of PGHOST and its fellows (default: a database of this process)',
    schema: { type: 'string', pattern: '^postgres(ql)?:' },
  },
  'database-schema': {
    value: 'NAME',
    example: 'staging',
    description: 'schema of --database that holds the tables: one for each cluster of processes (default: ironstage)',
    schema: OPTION_TEXT_SCHEMA,
  },
  'database-password-file': {
    value: 'FILE',
    description: 'file with the password of --database (default: PGPASSWORD, or ~/.pgpass)',
    schema: OPTION_TEXT_SCHEMA,
  },
  role: {
    value: ROLE_WORDS.join('|'),
    example: 'conductor',
    description:
      'work of this process among those of --database: api answers clients, conductor works on nodes, machines has --nodes machines (default: all, which is api and conductor)',
    schema: { type: 'string', enum: [...ROLE_WORDS] },
  },
  'shutdown-delay': {
    value: 'TIME',
    example: '5s',
    description:
      'time for which requests are still answered after a signal to stop, while /readyz says 503, so that proxies send no more (default: none)',
    schema: { type: 'string', pattern: DURATION_PATTERN },
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
    schema: OPTION_TEXT_SCHEMA,
  },
  'ironic-cr': {
    value: 'FILE',
    description:
      "be the Ironic of this file: an object of kind Ironic, as Metal3's operator of standalone Ironics takes it, and its Secrets; options of the command line win",
    schema: OPTION_TEXT_SCHEMA,
  },
  hosts: {
    value: 'PATH',
    description: 'BareMetalHosts with their Secrets to reconcile: a YAML file or a folder of files',
    schema: OPTION_TEXT_SCHEMA,
  },
  watch: { description: 'apply each change of the --hosts files, as kubectl apply --prune does', schema: FLAG },
  'kube-api': {
    value: 'PORT',
    example: '8001',
    description: 'serve BareMetalHosts and other kinds for kubectl on this port of 127.0.0.1; 0 picks a free one',
    schema: { type: 'integer', minimum: 0, maximum: 65535 },
  },
  'kube-crds': {
    value: 'PATH',
    description: 'CustomResourceDefinitions whose kinds --kube-api serves too: a YAML file or a folder of files',
    schema: OPTION_TEXT_SCHEMA,
  },
  'kube-token': {
    value: 'FILE',
    description: 'file with the token that clients of --kube-api must send (default: no token)',
    schema: OPTION_TEXT_SCHEMA,
  },
  actors: {
    value: ACTOR_WORDS.join('|'),
    example: 'all',
    accepted: 'none, bmo, all, or several of bmo,cbo,cvo,icc,mao,mcd,mco',
    description:
      "operators of ironstage that work on the objects of --kube-api: bmo; none where BareMetal Operator's own binary does it; or all, which are those of a cluster of its own, or some of those with commas, as cbo,cvo,mao, where the others are your own (default: bmo)",
    schema: OPTION_TEXT_SCHEMA,
  },
  hostclaims: {
    description:
      'give HostClaims a host, as BareMetal Operator does with its flag -hostclaims (default: they are only kept)',
    schema: FLAG,
  },
  clock: {
    value: 'MODE',
    example: 'manual',
    accepted: 'real, xN (such as x60), manual or auto',
    description: 'how time passes: real, xN, manual (stands still until advanced) or auto (jumps over waits)',
    schema: { type: 'string', pattern: '^(real|manual|auto|x[0-9]+(\\.[0-9]+)?)$' },
  },
  verbose: { description: 'print requests, commands and steps as they happen', schema: FLAG },
} as const satisfies Record<string, CommandOptionShape>
