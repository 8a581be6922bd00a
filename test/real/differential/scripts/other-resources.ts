import { del, get, idOf, patch, post, put, verb, type Call, type Script } from '../script.js'

const set = (path: string, value: unknown) => [{ op: 'replace', path, value }]
const add = (path: string, value: unknown) => [{ op: 'add', path, value }]
const remove = (path: string) => [{ op: 'remove', path }]
const node = (name: string, more = {}): Call =>
  post('/v1/nodes', { driver: 'fake-hardware', uuid: idOf(name), name, ...more })

export function ports(): Script {
  const [owner, other, group] = [idOf('ports owner'), idOf('ports other'), idOf('ports group')]
  const mac = (n: number) => `52:54:00:aa:00:${n.toString(16).padStart(2, '0')}`
  const bodies: unknown[] = [
    {},
    { node_uuid: owner },
    { node_uuid: owner, address: 'x' },
    { node_uuid: owner, address: mac(1).toUpperCase(), uuid: idOf('port 1'), name: 'first', extra: { a: 1 } },
    { node_uuid: owner, address: mac(1) },
    { node_uuid: 'abc', address: mac(2) },
    { node_uuid: idOf('nobody'), address: mac(2) },
    { node_uuid: owner, address: mac(2), uuid: idOf('port 2'), pxe_enabled: false, physical_network: 'net' },
    { node_uuid: owner, address: mac(3), pxe_enabled: 'x' },
    { node_uuid: owner, address: mac(3), local_link_connection: { switch_id: 'x' } },
    {
      ...{ node_uuid: owner, address: mac(3), uuid: idOf('port 3') },
      local_link_connection: { switch_id: mac(9), port_id: 'e1', switch_info: 's' },
    },
    { node_uuid: owner, address: mac(4), local_link_connection: { nonsense: 1 } },
    { node_uuid: owner, address: mac(4), nonsense: 1 },
    { node_uuid: owner, address: mac(4), physical_network: 'x'.repeat(100) },
    { node_uuid: owner, address: mac(4), physical_network: '' },
    { node_uuid: owner, address: mac(4), name: 'bad name' },
    { node_uuid: owner, address: mac(4), name: 'first' },
    { node_uuid: owner, address: mac(4), portgroup_uuid: group, uuid: idOf('port 4') },
    { node_uuid: other, address: mac(5), portgroup_uuid: group },
    { node_uuid: other, address: mac(5), uuid: idOf('port 5'), is_smartnic: true },
    { node_uuid: other, address: mac(6), internal_info: {} },
  ]
  const queries = [
    ...['', '?fields=address,uuid', '?fields=nonsense', '?detail=true', '?limit=2', '?limit=1&sort_key=address'],
    ...['?sort_key=address&sort_dir=desc', '?sort_key=nonsense', '?node=ports-owner', `?node_uuid=${other}`, '?node=x'],
    ...[`?address=${mac(1)}`, `?address=${mac(1).toUpperCase()}`, '?address=x', `?portgroup=${group}`, '?portgroup=x'],
    ...[`?marker=${idOf('port 2')}`, '?marker=x', '?shard=x', '?conductor_groups=x', '?description_contains=x'],
  ]
  const patches: unknown[] = [
    add('/extra/b', 2),
    set('/address', mac(7)),
    set('/address', mac(2)),
    set('/address', 'x'),
    remove('/address'),
    set('/pxe_enabled', false),
    set('/pxe_enabled', 'x'),
    remove('/pxe_enabled'),
    set('/node_uuid', other),
    set('/node_uuid', 'x'),
    remove('/node_uuid'),
    set('/node_uuid', owner),
    set('/name', 'renamed'),
    remove('/name'),
    set('/uuid', idOf('new')),
    set('/internal_info', {}),
    set('/physical_network', 'other'),
    remove('/physical_network'),
    set('/local_link_connection', { switch_id: mac(9), port_id: 'x' }),
    remove('/local_link_connection'),
    set('/portgroup_uuid', group),
    remove('/portgroup_uuid'),
    set('/is_smartnic', true),
    set('/nonsense', 1),
    set('/description', 'words'),
    set('/vendor', 'x'),
    set('/category', 'x'),
  ]
  return {
    name: 'ports',
    calls: [
      node('ports owner', { name: 'ports-owner' }),
      node('ports other', { name: 'ports-other' }),
      post('/v1/portgroups', { node_uuid: owner, uuid: group, name: 'ports-group', address: mac(100) }),
      ...bodies.map((body) => post('/v1/ports', body)),
      ...queries.flatMap((query) => [get(`/v1/ports${query}`), get(`/v1/ports/detail${query}`)]),
      get('/v1/ports/first'),
      get(`/v1/ports/${idOf('port 1')}?fields=address`),
      get(`/v1/ports/${idOf('port 1')}?fields=nonsense`),
      get(`/v1/ports/${mac(1)}`),
      get('/v1/ports/none'),
      get(`/v1/portgroups/${group}/ports`),
      get(`/v1/nodes/${owner}/ports`),
      ...patches.map((each) => patch(`/v1/ports/${idOf('port 1')}`, each)),
      get(`/v1/ports/${idOf('port 1')}`),
      verb(owner, 'manage'),
      patch(`/v1/ports/${idOf('port 1')}`, add('/extra/c', 3)),
      patch(`/v1/ports/${idOf('port 1')}`, set('/pxe_enabled', true)),
      ...['port 1', 'port 2', 'port 4', 'nothing'].map((name) => del(`/v1/ports/${idOf(name)}`)),
      ...['1.1', '1.18', '1.19', '1.24', '1.34', '1.53', '1.88'].flatMap((version) => [
        post('/v1/ports', { node_uuid: other, address: mac(50), pxe_enabled: true }, version),
        post('/v1/ports', { node_uuid: other, address: mac(50), name: 'x' }, version),
        get(`/v1/ports/${mac(50)}`, version),
        get(`/v1/ports?address=${mac(50)}`, version),
        get(`/v1/ports/${idOf('port 5')}`, version),
      ]),
      del(`/v1/nodes/${owner}`),
      del(`/v1/nodes/${other}`),
    ],
  }
}

export function portgroups(): Script {
  const owner = idOf('groups owner')
  const bodies: unknown[] = [
    {},
    { node_uuid: owner },
    { node_uuid: owner, uuid: idOf('group 1'), name: 'group-1', address: '52:54:00:bb:00:01', mode: '802.3ad' },
    { node_uuid: owner, name: 'group-1' },
    { node_uuid: owner, address: '52:54:00:bb:00:01' },
    { node_uuid: owner, address: 'x' },
    { node_uuid: owner, name: 'bad name' },
    { node_uuid: owner, uuid: idOf('group 2'), properties: { bond: 1 }, standalone_ports_supported: false },
    { node_uuid: owner, mode: '' },
    { node_uuid: owner, nonsense: 1 },
    { node_uuid: idOf('nobody') },
  ]
  const patches = [
    add('/extra/a', 1),
    set('/name', 'renamed'),
    set('/name', 'bad name'),
    remove('/name'),
    set('/address', '52:54:00:bb:00:02'),
    set('/address', 'x'),
    remove('/address'),
    set('/mode', 'active-backup'),
    remove('/mode'),
    set('/properties', {}),
    set('/properties', 'x'),
    set('/standalone_ports_supported', false),
    remove('/standalone_ports_supported'),
    set('/node_uuid', idOf('nobody')),
    set('/nonsense', 1),
    set('/uuid', 'x'),
  ]
  return {
    name: 'portgroups',
    calls: [
      node('groups owner', { name: 'groups-owner' }),
      ...bodies.map((body) => post('/v1/portgroups', body)),
      ...[
        '',
        '?detail=true',
        '?fields=uuid',
        '?fields=nonsense',
        '?limit=1',
        '?sort_key=name',
        '?sort_key=nonsense',
      ].map((query) => get(`/v1/portgroups${query}`)),
      ...['?node=groups-owner', '?address=52:54:00:bb:00:01', '?address=x', '?limit=1&sort_dir=desc', '?node=none'].map(
        (query) => get(`/v1/portgroups${query}`),
      ),
      get('/v1/portgroups/detail'),
      get('/v1/portgroups/group-1'),
      get('/v1/portgroups/group-1/ports'),
      get('/v1/portgroups/none'),
      get(`/v1/nodes/${owner}/portgroups`),
      get('/v1/portgroups/group-1', '1.22'),
      get('/v1/portgroups/group-1', '1.23'),
      get('/v1/portgroups/group-1', '1.25'),
      ...patches.map((each) => patch(`/v1/portgroups/${idOf('group 1')}`, each)),
      get(`/v1/portgroups/${idOf('group 1')}`),
      post('/v1/ports', { node_uuid: owner, address: '52:54:00:bb:00:10', portgroup_uuid: idOf('group 1') }),
      del(`/v1/portgroups/${idOf('group 1')}`),
      del(`/v1/portgroups/${idOf('group 2')}`),
      del(`/v1/portgroups/${idOf('group 2')}`),
      del(`/v1/nodes/${owner}`),
    ],
  }
}

export function chassisAndVolumes(): Script {
  const owner = idOf('volume owner')
  const chassis = idOf('a chassis')
  const connector = { node_uuid: owner, type: 'iqn', connector_id: 'iqn.2017', uuid: idOf('connector') }
  const target = {
    ...{ node_uuid: owner, volume_type: 'iscsi', boot_index: 0, volume_id: 'v1', uuid: idOf('target') },
    properties: { a: 1 },
  }
  return {
    name: 'chassis and volumes',
    calls: [
      post('/v1/chassis', { uuid: chassis, description: 'rack', extra: { a: 1 } }),
      post('/v1/chassis', {}),
      post('/v1/chassis', { nonsense: 1 }),
      post('/v1/chassis', { description: 7 }),
      post('/v1/chassis', { description: 'x'.repeat(300) }),
      node('volume owner', { name: 'volume-owner', chassis_uuid: chassis }),
      get('/v1/chassis?fields=description'),
      get('/v1/chassis?detail=true&limit=1'),
      get('/v1/chassis/detail'),
      get(`/v1/chassis/${chassis}`),
      get(`/v1/chassis/${chassis}?fields=nonsense`),
      get(`/v1/chassis/${chassis}/nodes`),
      get('/v1/chassis/x'),
      get(`/v1/nodes?chassis_uuid=${chassis}`),
      patch(`/v1/chassis/${chassis}`, set('/description', 'other')),
      patch(`/v1/chassis/${chassis}`, remove('/description')),
      patch(`/v1/chassis/${chassis}`, add('/extra/b', 1)),
      patch(`/v1/chassis/${chassis}`, set('/uuid', idOf('new'))),
      patch(`/v1/chassis/${chassis}`, set('/nonsense', 1)),
      del(`/v1/chassis/${chassis}`),
      post('/v1/volume/connectors', connector),
      post('/v1/volume/connectors', connector),
      post('/v1/volume/connectors', { ...connector, uuid: idOf('connector 2') }),
      post('/v1/volume/connectors', { node_uuid: owner }),
      post('/v1/volume/connectors', { ...connector, type: 'nonsense' }),
      post('/v1/volume/targets', target),
      post('/v1/volume/targets', { ...target, uuid: idOf('target 2') }),
      post('/v1/volume/targets', { ...target, boot_index: 'x' }),
      post('/v1/volume/targets', { node_uuid: owner }),
      get('/v1/volume'),
      ...[
        '',
        '?detail=true',
        '?fields=uuid',
        '?fields=nonsense',
        '?node=volume-owner',
        '?node=none',
        '?limit=1',
      ].flatMap((query) => [get(`/v1/volume/connectors${query}`), get(`/v1/volume/targets${query}`)]),
      get(`/v1/volume/connectors/${idOf('connector')}`),
      get(`/v1/volume/targets/${idOf('target')}`),
      get(`/v1/volume/targets/${idOf('none')}`),
      get(`/v1/nodes/${owner}/volume`),
      get(`/v1/nodes/${owner}/volume/connectors`),
      get(`/v1/nodes/${owner}/volume/targets`),
      patch(`/v1/volume/connectors/${idOf('connector')}`, set('/connector_id', 'new')),
      patch(`/v1/volume/connectors/${idOf('connector')}`, set('/nonsense', 'new')),
      patch(`/v1/volume/targets/${idOf('target')}`, set('/boot_index', 1)),
      patch(`/v1/volume/targets/${idOf('target')}`, set('/boot_index', 'x')),
      del(`/v1/volume/connectors/${idOf('connector')}`),
      del(`/v1/volume/targets/${idOf('target')}`),
      verb(owner, 'manage'),
      del(`/v1/nodes/${owner}`),
      del(`/v1/chassis/${chassis}`),
      del(`/v1/chassis/${chassis}`),
    ],
  }
}

const step = { interface: 'deploy', step: 'erase_devices', args: {}, priority: 10 }
const templateBodies = (name: string): unknown[] => [
  {},
  { name },
  { name, steps: [] },
  { name, steps: [{}] },
  { name, steps: [{ ...step, interface: 'nonsense' }] },
  { name, steps: [{ ...step, priority: -1 }] },
  { name, steps: [{ ...step, priority: 'x' }] },
  { name, steps: [{ ...step, args: 'x' }] },
  { name, steps: [{ ...step, nonsense: 1 }] },
  { name, steps: [step, step] },
  { name: 'bad-name', steps: [step] },
  { name: 7, steps: [step] },
  { name, steps: [step], extra: 'x' },
  { name, steps: [step], nonsense: 1 },
]

export function deployTemplates(): Script {
  const at = `/v1/deploy_templates/${idOf('template')}`
  return {
    name: 'deploy templates',
    calls: [
      ...templateBodies('CUSTOM_T').map((body) => post('/v1/deploy_templates', body)),
      post('/v1/deploy_templates', { name: 'CUSTOM_T', uuid: idOf('template'), steps: [step], extra: { a: 1 } }),
      post('/v1/deploy_templates', { name: 'CUSTOM_T', steps: [step] }),
      ...['', '?detail=true', '?fields=name', '?fields=nonsense', '?limit=1', '?sort_key=name', '?sort_key=steps'].map(
        (query) => get(`/v1/deploy_templates${query}`),
      ),
      get(at),
      get('/v1/deploy_templates/CUSTOM_T?fields=name,steps'),
      get('/v1/deploy_templates/none'),
      get(at, '1.54'),
      patch(at, set('/name', 'CUSTOM_U')),
      patch(at, set('/name', 'bad-name')),
      patch(at, remove('/name')),
      patch(at, set('/steps/0/priority', 20)),
      patch(at, set('/steps/0/priority', 'x')),
      patch(at, add('/steps/-', { ...step, step: 'other' })),
      patch(at, remove('/steps/1')),
      patch(at, remove('/steps')),
      patch(at, set('/steps', [])),
      patch(at, set('/uuid', 'x')),
      patch(at, add('/extra/b', 1)),
      patch(at, set('/nonsense', 1)),
      get(at),
      del(at),
      del(at),
    ],
  }
}

export function runbooks(): Script {
  const at = `/v1/runbooks/${idOf('runbook')}`
  const { priority: _, ...plain } = step
  const ordered = { ...plain, order: 1 }
  return {
    name: 'runbooks',
    calls: [
      ...templateBodies('CUSTOM_R').map((body) => post('/v1/runbooks', body)),
      post('/v1/runbooks', { name: 'CUSTOM_R', steps: [{ ...ordered, order: -1 }] }),
      post('/v1/runbooks', { name: 'CUSTOM_R', steps: [plain] }),
      post('/v1/runbooks', { name: 'CUSTOM_R', uuid: idOf('runbook'), steps: [ordered], extra: { a: 1 } }),
      post('/v1/runbooks', { name: 'CUSTOM_R', steps: [ordered] }),
      ...['', '?detail=true', '?fields=name', '?fields=nonsense', '?limit=1', '?sort_key=name', '?public=true'].map(
        (query) => get(`/v1/runbooks${query}`),
      ),
      get(at),
      get('/v1/runbooks/CUSTOM_R?fields=name,steps'),
      get('/v1/runbooks/none'),
      get(at, '1.91'),
      patch(at, set('/name', 'CUSTOM_S')),
      patch(at, set('/public', true)),
      patch(at, set('/owner', 'me')),
      patch(at, set('/public', false)),
      patch(at, set('/owner', 'me')),
      patch(at, set('/steps/0/order', 2)),
      patch(at, set('/description', 'x')),
      patch(at, set('/nonsense', 1)),
      get(at),
      del(at),
      del(at),
    ],
  }
}

export function inspectionRules(): Script {
  const at = `/v1/inspection_rules/${idOf('rule')}`
  const action = { op: 'set-attribute', args: { path: 'extra/a', value: 'b' } }
  const condition = { op: 'eq', args: { values: ['{inventory[system_vendor][manufacturer]}', 'x'] } }
  const bodies: unknown[] = [
    {},
    { actions: [] },
    { actions: [{ op: 'nonsense', args: {} }] },
    { actions: [{ op: 'fail', args: {} }] },
    { actions: [{ op: 'fail', args: { msg: 'no' } }], conditions: [{ op: 'nonsense', args: {} }] },
    { actions: [action], conditions: [{ op: 'eq' }] },
    { actions: [action], priority: 'x' },
    { actions: [action], priority: 100000 },
    { actions: [action], priority: -1 },
    { actions: [action], phase: 'nonsense' },
    { actions: [action], scope: 'x'.repeat(300) },
    { actions: [action], sensitive: 'x' },
    { actions: [action], nonsense: 1 },
    { actions: [action], conditions: [condition], uuid: idOf('rule'), description: 'words', priority: 5 },
    { actions: [action], uuid: idOf('rule') },
    { actions: [action], sensitive: true, uuid: idOf('rule 2') },
  ]
  return {
    name: 'inspection rules',
    calls: [
      ...bodies.map((body) => post('/v1/inspection_rules', body)),
      ...['', '?detail=true', '?fields=uuid,priority', '?fields=nonsense', '?limit=1', '?sort_key=priority'].map(
        (query) => get(`/v1/inspection_rules${query}`),
      ),
      get(at),
      get(at, '1.95'),
      get(`/v1/inspection_rules/${idOf('rule 2')}`),
      get('/v1/inspection_rules/none'),
      patch(at, set('/description', 'other')),
      patch(at, set('/priority', 7)),
      patch(at, set('/priority', 'x')),
      patch(at, set('/actions', [])),
      patch(at, set('/actions/0/args/value', 'c')),
      patch(at, remove('/conditions')),
      patch(at, set('/uuid', 'x')),
      patch(at, set('/nonsense', 1)),
      get(at),
      del(at),
      del(at),
      del('/v1/inspection_rules'),
      get('/v1/inspection_rules'),
    ],
  }
}

export function allocations(): Script {
  const name = 'alloc-node'
  const owner = idOf(name)
  const fakes = {
    deploy_interface: 'fake',
    inspect_interface: 'fake',
    rescue_interface: 'fake',
    raid_interface: 'fake',
  }
  return {
    name: 'allocations',
    calls: [
      post('/v1/nodes', { driver: 'fake-hardware', uuid: owner, name, resource_class: 'alloc', ...fakes }),
      verb(owner, 'manage'),
      verb(owner, 'provide'),
      post('/v1/allocations', {}),
      post('/v1/allocations', { name: 'bad name', resource_class: 'alloc' }),
      post('/v1/allocations', { resource_class: 7 }),
      post('/v1/allocations', { resource_class: 'alloc', traits: ['nonsense'] }),
      post('/v1/allocations', { resource_class: 'alloc', candidate_nodes: ['none'] }),
      post('/v1/allocations', { resource_class: 'alloc', nonsense: 1 }),
      post('/v1/allocations', { resource_class: 'alloc', state: 'active' }),
      post('/v1/allocations', { name: 'nothing-fits', uuid: idOf('alloc none'), resource_class: 'other' }),
      { ...get('/v1/allocations/nothing-fits'), settle: owner },
      get('/v1/allocations/nothing-fits'),
      post('/v1/allocations', { name: 'fits', uuid: idOf('alloc'), resource_class: 'alloc', extra: { a: 1 } }),
      { ...get(`/v1/nodes/${owner}`), settle: owner },
      get('/v1/allocations/fits'),
      get(`/v1/nodes/${owner}/allocation`),
      get(`/v1/nodes/${owner}`),
      ...[
        '',
        '?fields=name,state',
        '?fields=nonsense',
        '?node=alloc-node',
        '?resource_class=alloc',
        '?state=active',
      ].map((query) => get(`/v1/allocations${query}`)),
      ...['?limit=1', '?sort_key=name', '?state=nonsense', '?owner=x', '?node=none'].map((query) =>
        get(`/v1/allocations${query}`),
      ),
      patch('/v1/allocations/fits', set('/name', 'renamed')),
      patch(`/v1/allocations/${idOf('alloc')}`, add('/extra/b', 2)),
      patch(`/v1/allocations/${idOf('alloc')}`, set('/resource_class', 'x')),
      patch(`/v1/allocations/${idOf('alloc')}`, set('/state', 'x')),
      del(`/v1/nodes/${owner}`),
      verb(owner, 'active'),
      del(`/v1/allocations/${idOf('alloc')}`),
      verb(owner, 'deleted'),
      get(`/v1/nodes/${owner}/allocation`),
      del(`/v1/allocations/${idOf('alloc')}`),
      post('/v1/allocations', { name: 'backfill', node: 'alloc-node', resource_class: 'alloc' }),
      del('/v1/allocations/nothing-fits'),
      del('/v1/allocations/nothing-fits'),
      del(`/v1/nodes/${owner}/allocation`),
      get('/v1/allocations', '1.51'),
      put(`/v1/nodes/${owner}/maintenance`, {}),
      del(`/v1/nodes/${owner}`),
    ],
  }
}

/** Paths and methods that lead nowhere. */
export function nowhere(): Script {
  const paths = [
    '/v2',
    '/v1/nonsense',
    '/nonsense',
    '/v1/nodes/',
    '/v1//nodes',
    '/nodes',
    '/v1/nodes/x/y/z',
    '/v1.json',
  ]
  return {
    name: 'nowhere',
    calls: [
      ...paths.flatMap((path): Call[] => [get(path), post(path, {}), del(path)]),
      ...['/v1/nodes', '/v1/ports', '/v1/drivers', '/v1/conductors', '/v1/chassis', '/v1/lookup', '/v1'].flatMap(
        (path): Call[] => [
          { method: 'PUT', path, body: {} },
          { method: 'DELETE', path },
          { method: 'HEAD', path },
        ],
      ),
      get('/v1/lookup'),
      get('/v1/lookup?addresses=x'),
      get('/v1/lookup?addresses=52:54:00:11:11:11'),
      get(`/v1/lookup?node_uuid=${idOf('none')}`),
      post('/v1/heartbeat', {}),
      post(`/v1/heartbeat/${idOf('none')}`, { callback_url: 'http://h' }),
      post(`/v1/heartbeat/${idOf('none')}`, { callback_url: 'https://h', agent_token: 'x', agent_version: '13.0.0' }),
      post('/v1/continue_inspection', {}),
      post('/v1/continue_inspection', { inventory: {} }),
    ],
  }
}
