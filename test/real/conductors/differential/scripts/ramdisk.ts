import { away, enrol, FAKES, get, idOf, post, put, verb, type Call, type Script } from '../script.js'

/** The agent's API, called by other clients in every state that matters to it and in some that do not. */
export function ramdisk(): Script {
  const node = idOf('ramdisk')
  const mac = '52:54:00:dd:00:01'
  const url = 'https://192.0.2.1:9999'
  const beats: readonly unknown[] = [
    {},
    [],
    'x',
    { callback_url: 7 },
    { callback_url: '' },
    { callback_url: 'ftp://h' },
    { callback_url: 'x y' },
    { callback_url: url },
    { callback_url: url, agent_token: '' },
    { callback_url: url, agent_token: 7 },
    { callback_url: url, agent_token: 'x' },
    { callback_url: 'http://192.0.2.1:9999', agent_token: 'x', agent_version: '13.0.0' },
    { callback_url: url, agent_token: 'x', agent_version: 'x' },
    { callback_url: url, agent_token: 'x', agent_status: 'nonsense' },
    { callback_url: url, agent_token: 'x', agent_status: 'start', agent_status_message: 7 },
    { callback_url: url, agent_token: 'x', agent_verify_ca: 'no certificate' },
    { callback_url: url, agent_token: 'x', nonsense: 1 },
  ]
  const inventory = { interfaces: [{ mac_address: mac }] }
  const reports: readonly unknown[] = [
    {},
    [],
    7,
    null,
    { inventory: null },
    { inventory: {} },
    { inventory: { interfaces: [] } },
    { inventory: { interfaces: [{}] } },
    { inventory: { interfaces: [{ mac_address: 7 }] } },
    { inventory: { interfaces: [{ mac_address: 'x' }] } },
    { inventory: { interfaces: [{ mac_address: '52:54:00:dd:ff:ff' }] } },
    { inventory: { interfaces: 'x' } },
    { inventory: { ...inventory, bmc_address: 7 } },
    { inventory: { ...inventory, bmc_address: '192.0.2.9' } },
    { inventory },
    { inventory, nonsense: 1 },
  ]
  const queries = [
    '',
    '?addresses=',
    '?addresses=x',
    `?addresses=${mac}`,
    `?addresses=${mac.toUpperCase()}`,
    `?addresses=${mac},x`,
    '?addresses=52:54:00:11:11:11',
    `?node_uuid=${node}`,
    `?node_uuid=${idOf('none')}`,
    '?node_uuid=ramdisk',
    `?node_uuid=${node}&addresses=52:54:00:11:11:11`,
    '?nonsense=1',
    '?node_uuid=',
    '?addresses=a&addresses=b',
  ]
  const asked = (version?: string): Call[] => [
    ...queries.map((query) => get(`/v1/lookup${query}`, version)),
    ...beats.map((body) => post(`/v1/heartbeat/${node}`, body === 'x' ? '"x"' : body, version)),
    ...reports.map((body) => post('/v1/continue_inspection', body, version)),
    ...reports.slice(-4).map((body) => post(`/v1/continue_inspection?node_uuid=${node}`, body, version)),
  ]
  return {
    name: 'agents that are none',
    calls: [
      enrol('ramdisk', FAKES),
      post('/v1/ports', { node_uuid: node, address: mac }),
      ...asked(),
      post('/v1/heartbeat', {}),
      post('/v1/heartbeat/none', { callback_url: url, agent_token: 'x' }),
      post('/v1/heartbeat/not%20valid', { callback_url: url, agent_token: 'x' }),
      post('/v1/heartbeat/ramdisk', { callback_url: url, agent_token: 'x' }),
      post('/v1/heartbeat/ramdisk.json', { callback_url: url, agent_token: 'x' }),
      get(`/v1/heartbeat/${node}`),
      get('/v1/continue_inspection'),
      put('/v1/lookup', {}),
      post(`/v1/continue_inspection?node_uuid=${idOf('none')}`, { inventory }),
      post('/v1/continue_inspection?node_uuid=x', { inventory }),
      ...[
        '1.1',
        '1.21',
        '1.22',
        '1.35',
        '1.36',
        '1.61',
        '1.62',
        '1.67',
        '1.68',
        '1.71',
        '1.72',
        '1.83',
        '1.84',
      ].flatMap((version) => [
        get(`/v1/lookup?node_uuid=${node}`, version),
        post(`/v1/heartbeat/${node}`, { callback_url: url }, version),
        ...beats.slice(-6).map((body) => post(`/v1/heartbeat/${node}`, body, version)),
        post('/v1/continue_inspection', { inventory }, version),
        post(`/v1/continue_inspection?node_uuid=${node}`, { inventory }, version),
      ]),
      verb(node, 'manage'),
      verb(node, 'provide'),
      verb(node, 'active'),
      ...asked(),
      ...away('ramdisk'),
    ],
  }
}

/** The same of nodes that wait for an agent. */
export function waiting(): Script[] {
  const states: Readonly<Record<string, { interfaces: object; calls: (node: string) => Call[] }>> = {
    'inspect wait': {
      interfaces: { ...FAKES, inspect_interface: 'agent' },
      calls: (node) => [verb(node, 'manage'), verb(node, 'inspect')],
    },
    'clean wait': {
      interfaces: { ...FAKES, deploy_interface: 'custom-agent' },
      calls: (node) => [verb(node, 'manage'), verb(node, 'provide')],
    },
  }
  const verbs = ['manage', 'provide', 'inspect', 'clean', 'adopt', 'active', 'deleted', 'rescue', 'service', 'unhold']
  return Object.entries(states).map(([state, { interfaces, calls: callsTo }]) => {
    const name = `in-${state.replace(' ', '-')}`
    const node = idOf(name)
    const mac = `52:54:00:de:00:${idOf(name).slice(0, 2)}`
    const token = { callback_url: 'https://192.0.2.1:9999', agent_token: 'x' }
    const more: Readonly<Record<string, unknown>> = {
      clean: { clean_steps: [{ interface: 'deploy', step: 'erase_devices' }] },
      rescue: { rescue_password: 'x' },
      service: { service_steps: [{ interface: 'deploy', step: 'erase_devices' }] },
    }
    return {
      name: `an agent is waited for in ${state}`,
      calls: [
        enrol(name, interfaces as Record<string, unknown>),
        post('/v1/ports', { node_uuid: node, address: mac }),
        ...callsTo(node),
        get(`/v1/nodes/${node}`),
        ...verbs.map((target) => verb(node, target, (more[target] ?? {}) as Record<string, unknown>)),
        get(`/v1/lookup?addresses=${mac}`, '1.61'),
        post(`/v1/heartbeat/${node}`, token),
        get(`/v1/lookup?addresses=${mac}`),
        get(`/v1/lookup?node_uuid=${node}`),
        post(`/v1/heartbeat/${node}`, token),
        post(`/v1/continue_inspection?node_uuid=${idOf('none')}`, {
          inventory: { interfaces: [{ mac_address: mac }] },
        }),
        verb(node, 'abort'),
        get(`/v1/nodes/${node}/history?detail=true`),
        post(`/v1/heartbeat/${node}`, token),
        get(`/v1/lookup?addresses=${mac}`),
        ...away(name),
      ],
    }
  })
}
