import { del, get, idOf, patch, post, put, verb, type Call, type Script } from '../script.js'

const VERBS = [
  ...['manage', 'provide', 'inspect', 'abort', 'clean', 'adopt', 'active', 'rebuild', 'deleted', 'rescue', 'unrescue'],
  ...['service', 'unhold', 'nonsense', 'deploy', 'undeploy'],
]
const MORE: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  clean: { clean_steps: [{ interface: 'deploy', step: 'erase_devices' }] },
  rescue: { rescue_password: 'secret' },
  service: { service_steps: [{ interface: 'deploy', step: 'erase_devices' }] },
}
const FAKES = {
  ...{ deploy_interface: 'fake', inspect_interface: 'fake', rescue_interface: 'fake', raid_interface: 'fake' },
  ...{ management_interface: 'fake', power_interface: 'fake', bios_interface: 'fake', boot_interface: 'fake' },
}

/** How a node is brought into a state from enroll. */
const WAYS: Readonly<Record<string, (node: string) => Call[]>> = {
  enroll: () => [],
  manageable: (node) => [verb(node, 'manage')],
  available: (node) => [verb(node, 'manage'), verb(node, 'provide')],
  active: (node) => [verb(node, 'manage'), verb(node, 'provide'), verb(node, 'active')],
  adopted: (node) => [verb(node, 'manage'), verb(node, 'adopt')],
  rescue: (node) => [...WAYS['active']!(node), verb(node, 'rescue', MORE['rescue'])],
  'clean failed': (node) => [
    verb(node, 'manage'),
    verb(node, 'clean', { clean_steps: [{ interface: 'deploy', step: 'none' }] }),
  ],
  'deploy failed': (node) => [
    ...WAYS['available']!(node),
    verb(node, 'active', { deploy_steps: [{ interface: 'deploy', step: 'none', priority: 5, args: {} }] }),
  ],
  'service failed': (node) => [
    ...WAYS['active']!(node),
    verb(node, 'service', { service_steps: [{ interface: 'deploy', step: 'none' }] }),
  ],
  'maintenance in manageable': (node) => [verb(node, 'manage'), put(`/v1/nodes/${node}/maintenance`, { reason: 'x' })],
  'maintenance in active': (node) => [...WAYS['active']!(node), put(`/v1/nodes/${node}/maintenance`, {})],
  'protected in active': (node) => [
    ...WAYS['active']!(node),
    patch(`/v1/nodes/${node}`, [{ op: 'replace', path: '/protected', value: true }]),
  ],
  'retired in manageable': (node) => [
    verb(node, 'manage'),
    patch(`/v1/nodes/${node}`, [{ op: 'replace', path: '/retired', value: true }]),
  ],
  'retired in active': (node) => [
    ...WAYS['active']!(node),
    patch(`/v1/nodes/${node}`, [{ op: 'replace', path: '/retired', value: true }]),
  ],
}

/** A script for each verb in each state: what is answered and where the node ends. */
export function verbsInStates(): Script[] {
  return Object.entries(WAYS).flatMap(([state, way]) =>
    VERBS.map((target) => {
      const name = `${target}-in-${state}`.replaceAll(' ', '-')
      const node = idOf(name)
      return {
        name: `${target} in ${state}`,
        calls: [
          post('/v1/nodes', { driver: 'fake-hardware', uuid: node, name, ...FAKES }),
          ...way(node),
          verb(node, target, MORE[target] ?? {}),
          get(`/v1/nodes/${node}/states`),
          get(`/v1/nodes/${node}/history?detail=true`),
          del(`/v1/nodes/${node}`),
          put(`/v1/nodes/${node}/maintenance`, {}),
          del(`/v1/nodes/${node}`),
        ],
      }
    }),
  )
}

/** Requests for a state that say something that cannot be meant. */
export function malformedVerbs(): Script {
  const node = idOf('malformed')
  const path = `/v1/nodes/${node}/states/provision`
  const step = { interface: 'deploy', step: 'erase_devices' }
  const bodies: unknown[] = [
    {},
    { target: null },
    { target: 7 },
    { target: '' },
    { target: 'clean' },
    { target: 'clean', clean_steps: [] },
    { target: 'clean', clean_steps: {} },
    { target: 'clean', clean_steps: 'x' },
    { target: 'clean', clean_steps: [{}] },
    { target: 'clean', clean_steps: [{ step: 'x' }] },
    { target: 'clean', clean_steps: [{ ...step, args: 'x' }] },
    { target: 'clean', clean_steps: [{ ...step, args: { 'not valid': 1 } }] },
    { target: 'clean', clean_steps: [{ ...step, priority: 7 }] },
    { target: 'clean', clean_steps: [{ ...step, interface: 'nonsense' }] },
    { target: 'clean', clean_steps: [{ ...step, nonsense: 1 }] },
    { target: 'clean', clean_steps: [step], disable_ramdisk: 'x' },
    { target: 'clean', clean_steps: [step], runbook: 'x' },
    { target: 'clean', runbook: 'none' },
    { target: 'manage', clean_steps: [step] },
    { target: 'manage', deploy_steps: [step] },
    { target: 'manage', service_steps: [step] },
    { target: 'manage', configdrive: 'x' },
    { target: 'manage', rescue_password: 'x' },
    { target: 'manage', disable_ramdisk: true },
    { target: 'manage', nonsense: 1 },
    { target: 'rescue' },
    { target: 'rescue', rescue_password: '' },
    { target: 'rescue', rescue_password: ' ' },
    { target: 'service' },
    { target: 'service', service_steps: [] },
    { target: 'active', deploy_steps: [{ ...step, args: {} }] },
    { target: 'active', deploy_steps: [{ ...step, priority: 'high', args: {} }] },
    { target: 'active', deploy_steps: [{ ...step, priority: -1, args: {} }] },
    { target: 'active', configdrive: 7 },
    { target: 'active', configdrive: { nonsense: 1 } },
    { target: 'active', configdrive: { meta_data: 'x' } },
  ]
  return {
    name: 'malformed verbs',
    calls: [
      post('/v1/nodes', { driver: 'fake-hardware', uuid: node, name: 'malformed', ...FAKES }),
      verb(node, 'manage'),
      ...bodies.map((body) => put(path, body)),
      put(path, '{'),
      put(path, ''),
      put('/v1/nodes/none/states/provision', { target: 'manage' }),
      ...['1.1', '1.3', '1.4', '1.5', '1.12', '1.14', '1.34', '1.36', '1.37', '1.69', '1.86'].flatMap((version) => [
        put(path, { target: 'rescue', rescue_password: 'x' }, version),
        put(path, { target: 'clean', clean_steps: [{}] }, version),
        put(path, { target: 'adopt', configdrive: 'x' }, version),
        put(path, { target: 'service', service_steps: [{}] }, version),
        put(path, { target: 'unhold' }, version),
      ]),
      get(`/v1/nodes/${node}`),
      del(`/v1/nodes/${node}`),
    ],
  }
}
