import { del, get, idOf, post, type Call, type Script } from '../script.js'

/** Each brought or changed something that a client sees (Ironic's history of its API). */
const VERSIONS = [
  ...['1.1', '1.2', '1.3', '1.4', '1.5', '1.6', '1.7', '1.8', '1.10', '1.11', '1.12', '1.14', '1.16', '1.18', '1.19'],
  ...['1.21', '1.22', '1.26', '1.30', '1.31', '1.32', '1.33', '1.34', '1.37', '1.38', '1.40', '1.42', '1.44', '1.46'],
  ...['1.47', '1.48', '1.49', '1.50', '1.51', '1.52', '1.55', '1.56', '1.61', '1.65', '1.66', '1.69', '1.75', '1.78'],
  ...['1.81', '1.82', '1.83', '1.86', '1.87', '1.88', '1.90', '1.92', '1.93', '1.95', '1.96', '1.97', '1.100', '1.101'],
  ...['1.104', '1.107', '1.109', '1.110', '1.111', '1.112', '1.113', '1.114', '1.115'],
]

const PATHS = [
  ...[
    '/',
    '/v1',
    '/v1/nodes/mv',
    '/v1/nodes?fields=uuid',
    '/v1/nodes/detail',
    '/v1/nodes/mv/states',
    '/v1/ports/detail',
  ],
  ...['/v1/nodes/mv/ports', '/v1/portgroups', '/v1/chassis', '/v1/drivers', '/v1/drivers/fake-hardware'],
  ...['/v1/drivers?detail=true', '/v1/drivers?type=dynamic', '/v1/nodes/mv/validate', '/v1/nodes/mv/bios'],
  ...['/v1/nodes/mv/firmware', '/v1/nodes/mv/traits', '/v1/nodes/mv/vifs', '/v1/nodes/mv/history', '/v1/volume'],
  ...['/v1/nodes/mv/inventory', '/v1/allocations', '/v1/deploy_templates', '/v1/runbooks', '/v1/inspection_rules'],
  ...['/v1/conductors', '/v1/shards', '/v1/lookup?addresses=52:54:00:00:00:99', '/v1/nodes/mv/children'],
  ...['/v1/nodes/mv/vendor_passthru/methods', '/v1/nodes/mv/management/boot_device', '/v1/nodes/mv/portgroups'],
  ...['/v1/nodes/mv/allocation', '/v1/nodes/mv/volume', '/v1/nodes?resource_class=x', '/v1/nodes?owner=x'],
  ...['/v1/nodes?fault=x', '/v1/nodes?shard=x', '/v1/nodes?parent_node=x', '/v1/nodes?description_contains=x'],
  ...['/v1/nodes?detail=true', '/v1/ports?node=mv', '/v1/ports?portgroup=x', '/v1/nodes?sort_key=resource_class'],
  ...['/v1/nodes/mv/management/indicators', '/v1/nodes/mv/states/console', '/v1/events', '/v1/nodes/mv/vmedia'],
]

/** What each microversion shows of the same node: fields, states, endpoints. */
export function microversions(): Script {
  const bad = ['1.0', '1.999', '2.1', 'latest', 'nonsense', '1', '', '-1.1', '1.1.1', '1.01']
  const standard = (value: string): Call => ({
    ...get('/v1/nodes', null),
    headers: { 'openstack-api-version': value },
  })
  return {
    name: 'microversions',
    calls: [
      post('/v1/nodes', { driver: 'fake-hardware', name: 'mv', uuid: idOf('mv'), resource_class: 'x', owner: 'x' }),
      post('/v1/ports', { node_uuid: idOf('mv'), address: '52:54:00:00:00:99', uuid: idOf('mv port') }),
      ...VERSIONS.flatMap((version) => PATHS.map((path) => get(path.replace('/mv', `/${idOf('mv')}`), version))),
      ...PATHS.map((path) => get(path, null)),
      ...bad.map((version) => get('/v1/nodes', version)),
      ...['baremetal 1.50', 'baremetal latest', 'baremetal', 'compute 2.1', 'baremetal 1.50,compute 2.1'].map(standard),
      del('/v1/nodes/mv'),
    ],
  }
}
