import { away, enrol, FAKES, get, idOf, patch, put, set, led, verb, type Call, type Script } from '../script.js'

const VERBS = [
  'manage',
  'provide',
  'inspect',
  'abort',
  'clean',
  'adopt',
  'active',
  'rebuild',
  'deleted',
  'rescue',
  'unrescue',
  'service',
  'unhold',
  'nonsense',
  'deploy',
  'undeploy',
  'delete',
  'deploying',
  'available',
] as const
type Verb = (typeof VERBS)[number]

const MORE: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  clean: { clean_steps: [{ interface: 'deploy', step: 'erase_devices' }] },
  rescue: { rescue_password: 'secret' },
  service: { service_steps: [{ interface: 'deploy', step: 'erase_devices' }] },
}

/** How a node is brought into a state from enroll, and what leads on from there. */
interface Place {
  readonly calls: (node: string) => Call[]
  readonly on: readonly Verb[]
}

const manageable = (node: string): Call[] => [led(node, 'manage')]
const available = (node: string): Call[] => [...manageable(node), led(node, 'provide')]
const active = (node: string): Call[] => [...available(node), led(node, 'active')]
const fails = { interface: 'deploy', step: 'none' }
const maintained = (node: string) => put(`/v1/nodes/${node}/maintenance`, { reason: 'x' })
const flagged = (node: string, field: string) => patch(`/v1/nodes/${node}`, [set(`/${field}`, true)])

export const PLACES: Readonly<Record<string, Place>> = {
  enroll: { calls: () => [], on: ['manage', 'adopt'] },
  manageable: { calls: manageable, on: ['provide', 'inspect', 'clean', 'adopt', 'manage'] },
  available: { calls: available, on: ['manage', 'active', 'deploy', 'rebuild'] },
  active: {
    calls: active,
    on: ['rebuild', 'deleted', 'undeploy', 'rescue', 'service', 'unrescue', 'delete'],
  },
  adopted: { calls: (node) => [...manageable(node), led(node, 'adopt')], on: ['deleted', 'rebuild'] },
  rescue: {
    calls: (node) => [...active(node), led(node, 'rescue', MORE['rescue'])],
    on: ['rescue', 'unrescue', 'deleted'],
  },
  'clean failed': {
    calls: (node) => [...manageable(node), led(node, 'clean', { clean_steps: [fails] })],
    on: ['manage'],
  },
  'deploy failed': {
    calls: (node) => [...available(node), led(node, 'active', { deploy_steps: [{ ...fails, priority: 5, args: {} }] })],
    on: ['active', 'rebuild', 'deleted'],
  },
  'service failed': {
    calls: (node) => [...active(node), led(node, 'service', { service_steps: [fails] })],
    on: ['service', 'rescue', 'abort', 'deleted'],
  },
  'maintenance in manageable': {
    calls: (node) => [...manageable(node), maintained(node)],
    on: ['provide', 'inspect', 'clean'],
  },
  'maintenance in available': { calls: (node) => [...available(node), maintained(node)], on: ['manage', 'active'] },
  'maintenance in active': {
    calls: (node) => [...active(node), maintained(node)],
    on: ['rebuild', 'deleted', 'rescue', 'service'],
  },
  'protected in active': { calls: (node) => [...active(node), flagged(node, 'protected')], on: ['rescue', 'service'] },
  'retired in manageable': {
    calls: (node) => [...manageable(node), flagged(node, 'retired')],
    on: ['inspect', 'clean', 'adopt'],
  },
  'retired in active': { calls: (node) => [...active(node), flagged(node, 'retired')], on: ['deleted', 'rebuild'] },
}

/**
 * Each verb in each state: what is answered and where the node ends. Those that lead on have a node of their own; what is
 * refused, or leads back, is asked of one node.
 */
export function verbsInStates(): Script[] {
  return Object.entries(PLACES).flatMap(([state, { calls: callsTo, on }]) => {
    const named = (name: string, asked: (node: string) => Call[]): Script => ({
      name,
      calls: [
        enrol(slug(name), FAKES),
        ...callsTo(idOf(slug(name))),
        ...asked(idOf(slug(name))),
        get(`/v1/nodes/${idOf(slug(name))}/states`),
        get(`/v1/nodes/${idOf(slug(name))}/history?detail=true`),
        ...away(slug(name)),
      ],
    })
    return [
      ...on.map((target) => named(`${target} in ${state}`, (node) => [verb(node, target, MORE[target])])),
      named(`what ${state} refuses`, (node) =>
        VERBS.filter((target) => !on.includes(target)).map((target) => verb(node, target, MORE[target])),
      ),
    ]
  })
}

const slug = (name: string): string => name.replaceAll(' ', '-')

/** Verbs that Ironic refuses in its own words: the interfaces need an agent and may or may not have their settings. */
export function refusals(): Script[] {
  const interfaces: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
    'custom-agent': { deploy_interface: 'custom-agent' },
    direct: { deploy_interface: 'direct' },
    'direct with an image': {
      deploy_interface: 'direct',
      instance_info: { image_source: 'http://192.0.2.1/image', image_checksum: 'abc' },
    },
    'direct without a checksum': {
      deploy_interface: 'direct',
      instance_info: { image_source: 'http://192.0.2.1/image' },
    },
    'direct with a partition image': {
      deploy_interface: 'direct',
      instance_info: { image_source: 'http://192.0.2.1/i', image_checksum: 'abc', image_type: 'partition' },
    },
    'custom-agent with wrong capabilities': {
      deploy_interface: 'custom-agent',
      instance_info: { capabilities: '{"boot_option": "nonsense"}' },
    },
    'no interfaces': {
      inspect_interface: 'no-inspect',
      rescue_interface: 'no-rescue',
      raid_interface: 'no-raid',
      bios_interface: 'no-bios',
      firmware_interface: 'no-firmware',
    },
    'agent interfaces': { inspect_interface: 'agent', rescue_interface: 'agent', raid_interface: 'agent' },
  }
  return Object.entries(interfaces).map(([what, more]) => {
    const name = slug(`refused ${what}`)
    const node = idOf(name)
    const at = `/v1/nodes/${node}`
    return {
      name: `refusals with ${what}`,
      calls: [
        enrol(name, { ...FAKES, ...more }),
        get(`${at}/validate`),
        verb(node, 'manage'),
        ...['provide', 'rescue'].map((target) => put(`${at}/states/provision`, { target }, '1.3')),
        ...(what === 'no interfaces' ? [verb(node, 'inspect')] : []),
        ...['raid', 'bios', 'firmware'].map((of) => [
          verb(node, 'clean', { clean_steps: [{ interface: of, step: 'nonsense' }] }),
          verb(node, 'abort'),
          verb(node, 'manage'),
        ]),
        put(`${at}/states/raid`, { logical_disks: [{ size_gb: 10, raid_level: '1' }] }),
        get(`${at}/bios`),
        get(`${at}/firmware`),
        // Without cleaning the node becomes available without an agent.
        patch(at, [set('/automated_clean', false)]),
        patch(at, [set('/deploy_interface', 'fake')]),
        verb(node, 'provide'),
        patch(at, [set('/deploy_interface', more['deploy_interface'] ?? 'fake')]),
        get(`${at}/validate`),
        ...[
          { target: 'active', configdrive: 'not base64' },
          { target: 'active', configdrive: 'http://' },
          { target: 'active', deploy_steps: [{ interface: 'nonsense', step: 'x', priority: 1, args: {} }] },
        ].map((body) => [put(`${at}/states/provision`, body)]),
        ...away(name),
      ],
    }
  })
}
