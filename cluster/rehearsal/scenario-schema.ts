/** JSON schema of a scenario file, which `docs/rehearse.md` explains. */
const TEXT = { type: 'string', minLength: 1 } as const
const VERSION = { type: 'string', pattern: '^[0-9][0-9A-Za-z.+-]*$' } as const
const COUNT = { type: 'integer', minimum: 0, maximum: 50 } as const
const INDEX = { type: 'integer', minimum: 0 } as const
const TIME = { type: 'string', pattern: '^[0-9]+(\\.[0-9]+)?[smhd]$' } as const
const WAITED_FOR = { enum: ['time', 'upgrade', 'spares', 'installations', 'nodes', 'pools', 'reboots'] } as const
const POOL = { enum: ['workers', 'control plane'] } as const
const GROUP = { enum: ['spares', 'workers', 'control plane', 'nodes', 'bootstrap'] } as const

const object = (properties: Record<string, object>, required: readonly string[] = []) => ({
  type: 'object',
  additionalProperties: false,
  properties,
  required: [...required],
})
/** An object whose first key is its kind. */
const keyed = (key: string, value: object, more: Record<string, object> = {}, required: readonly string[] = []) =>
  object({ [key]: value, ...more }, [key, ...required])
const some = { of: GROUP, index: INDEX }

const EXPECTATIONS: Readonly<Record<string, object>> = {
  deployImage: keyed('deployImage', TEXT, some, ['of']),
  runs: keyed('runs', TEXT, some, ['of']),
  installedFrom: keyed('installedFrom', TEXT, some, ['of']),
  method: keyed('method', { enum: ['coreos', 'qcow2'] }, some, ['of']),
  state: keyed('state', TEXT, some, ['of']),
  upgrade: keyed('upgrade', { enum: ['completed', 'refused', 'under way', 'failing'] }, { because: TEXT }),
  bootImageOf: keyed('bootImageOf', { const: 'machine sets' }, { is: TEXT }, ['is']),
  refused: keyed('refused', { const: 'boot image' }, { because: TEXT }),
  pulled: keyed('pulled', { enum: ['base', 'node image'] }, { of: TEXT, times: COUNT }, ['of', 'times']),
  reached: keyed('reached', { const: 'mirrors only' }),
  faster: keyed('faster', TEXT, { than: TEXT, by: TIME }, ['than']),
  fewerBytes: keyed('fewerBytes', TEXT, { than: TEXT }, ['than']),
  reboots: keyed('reboots', COUNT, { ...some, since: { enum: ['upgrade', 'installation'] } }, ['of', 'since']),
  skew: keyed('skew', { type: 'array', items: TEXT }),
  degraded: keyed('degraded', GROUP, { because: TEXT }),
  agent: keyed('agent', TEXT, { of: GROUP }, ['of']),
  error: keyed('error', TEXT, some, ['of']),
  ironic: keyed('ironic', TEXT, some, ['of']),
  network: keyed('network', { const: 'own' }, some, ['of']),
  away: keyed('away', COUNT, { of: GROUP }, ['of']),
  workloads: keyed('workloads', { const: 'moved' }),
  refusedLogins: keyed('refusedLogins', COUNT, { of: GROUP }, ['of']),
  networkBoots: keyed('networkBoots', COUNT),
}

const STEPS: Readonly<Record<string, object>> = {
  upgrade: keyed('upgrade', TEXT, { force: { type: 'boolean' }, image: TEXT }),
  wait: {
    ...keyed('wait', WAITED_FOR, { within: TIME }),
    if: { properties: { wait: { const: 'time' } } },
    then: { required: ['within'] },
  },
  scale: keyed('scale', COUNT, { as: TEXT }),
  power: keyed('power', { enum: ['on', 'off'] }, some, ['of']),
  connect: keyed('connect', COUNT, {
    supportedSince: TEXT,
    password: { const: 'wrong' },
    boots: { const: 'network' },
    network: { const: 'missing' },
  }),
  reprovision: keyed('reprovision', GROUP),
  bootImage: keyed('bootImage', TEXT),
  bootstrap: keyed('bootstrap', TEXT),
  tamper: keyed('tamper', GROUP, { path: { type: 'string', pattern: '^/.' }, text: { type: 'string' } }, [
    'path',
    'text',
  ]),
  password: keyed('password', { const: 'right' }, { of: GROUP }, ['of']),
  network: keyed('network', { const: 'own' }, { of: GROUP }, ['of']),
  pause: keyed('pause', POOL),
  resume: keyed('resume', POOL),
  askIronic: keyed('askIronic', { enum: ['clean'] }, { of: GROUP }, ['of']),
  failPulls: keyed('failPulls', COUNT, { of: TEXT }, ['of']),
  fill: keyed('fill', { const: '/boot' }, { of: GROUP }, ['of']),
  expect: keyed('expect', { type: 'object', minProperties: 1 }),
}

const RELEASE = object({
  version: VERSION,
  coreos: VERSION,
  base: VERSION,
  agent: TEXT,
  installerStream: VERSION,
  family: { enum: ['rhcos', 'fcos'] },
  installs: { enum: ['coreos', 'qcow2'] },
  deployImage: { enum: ['coreos', 'old-ramdisk'] },
  damaged: { enum: ['node-image', 'image-service'] },
  iso: TEXT,
  metal: TEXT,
  release: TEXT,
})

export const SCENARIO_SCHEMA = object(
  {
    name: { type: 'string', pattern: '^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$' },
    title: TEXT,
    document: TEXT,
    releases: { type: 'object', minProperties: 1, additionalProperties: RELEASE },
    cluster: object(
      {
        release: TEXT,
        network: { enum: ['connected', 'disconnected'] },
        controlPlane: COUNT,
        workers: COUNT,
        spares: COUNT,
        pinned: { type: 'boolean' },
      },
      ['release'],
    ),
    steps: { type: 'array', minItems: 1, items: { type: 'object', minProperties: 1 } },
  },
  ['name', 'title', 'releases', 'cluster', 'steps'],
)

/** Schema of a step by its first key, or of the expectation in it. */
export const STEP_SCHEMAS = STEPS
export const EXPECTATION_SCHEMAS = EXPECTATIONS
