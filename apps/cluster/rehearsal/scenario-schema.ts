import { CLUSTER_ERAS } from '../../../base/kubernetes/index.js'
import { CLOUDS } from '../site/cloud-platforms.js'

/** JSON schema of a scenario file, which `docs/rehearse.md` explains. */
const SCENARIO_TEXT_SCHEMA = { type: 'string', minLength: 1 } as const
const VERSION_SCHEMA = { type: 'string', pattern: '^[0-9][0-9A-Za-z.+-]*$' } as const
const COUNT = { type: 'integer', minimum: 0, maximum: 50 } as const
const INDEX_SCHEMA = { type: 'integer', minimum: 0 } as const
const DURATION_SCHEMA = { type: 'string', pattern: '^[0-9]+(\\.[0-9]+)?[smhd]$' } as const
const WAITED_FOR = {
  enum: ['time', 'upgrade', 'metal3', 'spares', 'installations', 'nodes', 'pools', 'reboots'],
} as const
/** Value of a label, which names of streams are. */
const STREAM_NAME = { type: 'string', pattern: '^[a-z0-9]([a-z0-9.-]{0,61}[a-z0-9])?$' } as const
const POOL = { enum: ['workers', 'control plane'] } as const
const GROUP = { enum: ['spares', 'workers', 'control plane', 'nodes', 'bootstrap'] } as const

const scenarioObjectSchema = (properties: Record<string, object>, required: readonly string[] = []) => ({
  type: 'object',
  additionalProperties: false,
  properties,
  required: [...required],
})
/** An object whose first key is its kind. */
const keyed = (key: string, value: object, more: Record<string, object> = {}, required: readonly string[] = []) =>
  scenarioObjectSchema({ [key]: value, ...more }, [key, ...required])
const groupProperties = { of: GROUP, index: INDEX_SCHEMA }

const OBJECT_WAIT = scenarioObjectSchema(
  {
    for: SCENARIO_TEXT_SCHEMA,
    kind: SCENARIO_TEXT_SCHEMA,
    name: SCENARIO_TEXT_SCHEMA,
    namespace: SCENARIO_TEXT_SCHEMA,
  },
  ['for', 'kind', 'name'],
)

/** `KIND/NAME` */
const OBJECT_REFERENCE = { type: 'string', pattern: '^[A-Za-z][A-Za-z0-9.]*/[^/ ]+$' } as const

const EXPECTATIONS: Readonly<Record<string, object>> = {
  deployImage: keyed('deployImage', SCENARIO_TEXT_SCHEMA, { ...groupProperties, stream: STREAM_NAME }, ['of']),
  runs: keyed('runs', SCENARIO_TEXT_SCHEMA, { ...groupProperties, stream: STREAM_NAME }, ['of']),
  installedFrom: keyed('installedFrom', SCENARIO_TEXT_SCHEMA, groupProperties, ['of']),
  method: keyed('method', { enum: ['coreos', 'qcow2'] }, groupProperties, ['of']),
  state: keyed('state', SCENARIO_TEXT_SCHEMA, groupProperties, ['of']),
  upgrade: keyed(
    'upgrade',
    { enum: ['completed', 'refused', 'under way', 'failing'] },
    { because: SCENARIO_TEXT_SCHEMA },
  ),
  bootImageOf: keyed('bootImageOf', { enum: ['machine sets', 'control plane'] }, { is: SCENARIO_TEXT_SCHEMA }, ['is']),
  refused: keyed('refused', { enum: ['boot image', 'managed boot images'] }, { because: SCENARIO_TEXT_SCHEMA }),
  pulled: keyed('pulled', { enum: ['base', 'node image'] }, { of: SCENARIO_TEXT_SCHEMA, times: COUNT }, [
    'of',
    'times',
  ]),
  reached: keyed('reached', { const: 'mirrors only' }),
  faster: keyed('faster', SCENARIO_TEXT_SCHEMA, { than: SCENARIO_TEXT_SCHEMA, by: DURATION_SCHEMA }, ['than']),
  fewerBytes: keyed('fewerBytes', SCENARIO_TEXT_SCHEMA, { than: SCENARIO_TEXT_SCHEMA }, ['than']),
  reboots: keyed('reboots', COUNT, { ...groupProperties, since: { enum: ['upgrade', 'installation'] } }, [
    'of',
    'since',
  ]),
  skew: keyed('skew', { type: 'array', items: SCENARIO_TEXT_SCHEMA }),
  poolStream: keyed('poolStream', SCENARIO_TEXT_SCHEMA, { of: POOL }, ['of']),
  unrendered: keyed('unrendered', POOL, { because: SCENARIO_TEXT_SCHEMA }),
  skewMode: keyed('skewMode', { enum: ['Automatic', 'Manual', 'None'] }, { version: VERSION_SCHEMA }),
  upgradeable: keyed('upgradeable', { type: 'boolean' }, { because: SCENARIO_TEXT_SCHEMA }),
  operator: keyed(
    'operator',
    SCENARIO_TEXT_SCHEMA,
    { is: { enum: ['healthy', 'degraded'] }, because: SCENARIO_TEXT_SCHEMA },
    ['is'],
  ),
  rollOuts: keyed('rollOuts', { type: 'array', items: SCENARIO_TEXT_SCHEMA }),
  degraded: keyed('degraded', GROUP, { because: SCENARIO_TEXT_SCHEMA }),
  agent: keyed('agent', SCENARIO_TEXT_SCHEMA, groupProperties, ['of']),
  error: keyed('error', SCENARIO_TEXT_SCHEMA, groupProperties, ['of']),
  event: keyed('event', SCENARIO_TEXT_SCHEMA, { of: OBJECT_REFERENCE, because: SCENARIO_TEXT_SCHEMA }, ['of']),
  condition: keyed(
    'condition',
    SCENARIO_TEXT_SCHEMA,
    { of: OBJECT_REFERENCE, is: { enum: ['True', 'False', 'Unknown'] }, because: SCENARIO_TEXT_SCHEMA },
    ['of', 'is'],
  ),
  deletion: keyed(
    'deletion',
    { enum: ['refused', 'allowed'] },
    { of: OBJECT_REFERENCE, because: SCENARIO_TEXT_SCHEMA },
    ['of'],
  ),
  internalRegistry: keyed('internalRegistry', { enum: ['served', 'stopped'] }, groupProperties, ['of']),
  ironic: keyed('ironic', SCENARIO_TEXT_SCHEMA, groupProperties, ['of']),
  network: keyed('network', { const: 'own' }, groupProperties, ['of']),
  away: keyed('away', COUNT, { of: GROUP }, ['of']),
  workloads: keyed('workloads', { const: 'moved' }),
  refusedLogins: keyed('refusedLogins', COUNT, { of: GROUP }, ['of']),
  networkBoots: keyed('networkBoots', COUNT),
}

const SCENARIO_STEPS: Readonly<Record<string, object>> = {
  upgrade: keyed('upgrade', SCENARIO_TEXT_SCHEMA, { force: { type: 'boolean' }, image: SCENARIO_TEXT_SCHEMA }),
  wait: {
    ...keyed('wait', { if: { type: 'object' }, then: OBJECT_WAIT, else: WAITED_FOR }, { within: DURATION_SCHEMA }),
    if: { properties: { wait: { const: 'time' } } },
    then: { required: ['within'] },
  },
  remove: keyed('remove', OBJECT_REFERENCE),
  annotate: keyed('annotate', OBJECT_REFERENCE, { key: SCENARIO_TEXT_SCHEMA, value: { type: 'string' } }, ['key']),
  scale: keyed('scale', COUNT, { as: SCENARIO_TEXT_SCHEMA }),
  power: keyed('power', { enum: ['on', 'off'] }, groupProperties, ['of']),
  connect: keyed('connect', COUNT, {
    supportedSince: SCENARIO_TEXT_SCHEMA,
    password: { const: 'wrong' },
    boots: { const: 'network' },
    network: { const: 'missing' },
    stream: STREAM_NAME,
  }),
  inspect: keyed('inspect', GROUP),
  reprovision: keyed('reprovision', GROUP),
  bootImage: keyed('bootImage', SCENARIO_TEXT_SCHEMA),
  clear: keyed('clear', { const: 'boot images' }),
  manageBootImages: keyed('manageBootImages', { enum: ['All', 'None'] }, { of: { const: 'control plane' } }),
  bootstrap: keyed('bootstrap', SCENARIO_TEXT_SCHEMA),
  tamper: keyed('tamper', GROUP, { path: { type: 'string', pattern: '^/.' }, text: { type: 'string' } }, [
    'path',
    'text',
  ]),
  password: keyed('password', { const: 'right' }, { of: GROUP }, ['of']),
  network: keyed('network', { const: 'own' }, { of: GROUP }, ['of']),
  hostStream: keyed('hostStream', STREAM_NAME, groupProperties, ['of']),
  poolStream: keyed('poolStream', STREAM_NAME, { of: POOL }, ['of']),
  defaultStream: keyed('defaultStream', STREAM_NAME),
  runtime: keyed('runtime', { enum: ['runc', 'crun'] }, { of: POOL }, ['of']),
  pause: keyed('pause', POOL),
  resume: keyed('resume', POOL),
  askIronic: keyed('askIronic', { enum: ['clean'] }, { of: GROUP }, ['of']),
  failPulls: keyed('failPulls', COUNT, { of: SCENARIO_TEXT_SCHEMA }, ['of']),
  fill: keyed('fill', { const: '/boot' }, { of: GROUP }, ['of']),
  mirror: keyed('mirror', SCENARIO_TEXT_SCHEMA),
  apply: keyed('apply', SCENARIO_TEXT_SCHEMA),
  delete: keyed('delete', SCENARIO_TEXT_SCHEMA),
  expect: keyed('expect', { type: 'object', minProperties: 1 }, { document: SCENARIO_TEXT_SCHEMA }),
}

const RELEASE_SCHEMA = scenarioObjectSchema({
  version: VERSION_SCHEMA,
  coreos: VERSION_SCHEMA,
  streams: { type: 'object', additionalProperties: VERSION_SCHEMA, propertyNames: { enum: ['rhel-10', 'centos-10'] } },
  base: VERSION_SCHEMA,
  agent: SCENARIO_TEXT_SCHEMA,
  installerStream: VERSION_SCHEMA,
  family: { enum: ['rhcos', 'fcos'] },
  installs: { enum: ['coreos', 'qcow2'] },
  deployImage: { enum: ['coreos', 'old-ramdisk'] },
  slow: { const: 'image-service' },
  damaged: { enum: ['node-image', 'image-service', 'ironic', 'baremetal-operator'] },
  iso: SCENARIO_TEXT_SCHEMA,
  metal: SCENARIO_TEXT_SCHEMA,
  release: SCENARIO_TEXT_SCHEMA,
})

export const SCENARIO_SCHEMA = scenarioObjectSchema(
  {
    name: { type: 'string', pattern: '^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$' },
    title: SCENARIO_TEXT_SCHEMA,
    as: { enum: CLUSTER_ERAS },
    document: SCENARIO_TEXT_SCHEMA,
    releases: { type: 'object', minProperties: 1, additionalProperties: RELEASE_SCHEMA },
    cluster: scenarioObjectSchema(
      {
        release: SCENARIO_TEXT_SCHEMA,
        platform: { enum: ['BareMetal', ...CLOUDS] },
        network: { enum: ['connected', 'disconnected', 'internal'] },
        controlPlane: COUNT,
        workers: COUNT,
        spares: COUNT,
        hostStream: STREAM_NAME,
        pinned: { type: 'boolean' },
        bootIsoSource: { enum: ['local', 'http'] },
      },
      ['release'],
    ),
    steps: { type: 'array', minItems: 1, items: { type: 'object', minProperties: 1 } },
  },
  ['name', 'title', 'releases', 'cluster', 'steps'],
)

/** Schema of a step by its first key, or of the expectation in it. */
export const STEP_SCHEMAS = SCENARIO_STEPS
export const EXPECTATION_SCHEMAS = EXPECTATIONS
