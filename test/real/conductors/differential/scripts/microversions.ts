import { del, enrol, get, idOf, post, put, type Call, type Script } from '../script.js'

/** Those that brought fields, or changed how they are asked for. */
const VERSIONS = [
  ...['1.1', '1.3', '1.5', '1.8', '1.14', '1.18', '1.19', '1.21', '1.26', '1.30', '1.31', '1.33', '1.37', '1.42'],
  ...['1.43', '1.44', '1.48', '1.52', '1.61', '1.65', '1.66', '1.75', '1.82', '1.83', '1.86', '1.88', '1.94', '1.95'],
  ...['1.97', '1.100', '1.103', '1.104', '1.106', '1.109', '1.111', '1.114'],
]

/** Objects whose fields depend on the version. */
const SHOWN = [
  ...['/v1', '/v1/nodes/mv', '/v1/nodes?fields=uuid', '/v1/nodes?detail=true', '/v1/nodes/mv/states'],
  ...['/v1/ports/detail', '/v1/portgroups/detail', '/v1/drivers/fake-hardware', '/v1/chassis'],
  ...['/v1/nodes?sort_key=resource_class', '/v1/nodes/mv/validate'],
]

/** Requests that a version added or changed: sent with the version before, with that version and without one. */
const GATES: Readonly<Record<string, readonly string[]>> = {
  '/v1/nodes/mv/states': ['1.8', '1.14'],
  '/v1/nodes?provision_state=enroll': ['1.9'],
  '/v1/nodes?driver=fake-hardware': ['1.16'],
  '/v1/nodes?resource_class=x': ['1.21'],
  '/v1/nodes?fault=x': ['1.42'],
  '/v1/nodes?conductor_group=x': ['1.46'],
  '/v1/nodes?conductor=x': ['1.49'],
  '/v1/nodes?owner=x': ['1.50'],
  '/v1/nodes?description_contains=x': ['1.51'],
  '/v1/nodes?retired=true': ['1.61'],
  '/v1/nodes?lessee=x': ['1.65'],
  '/v1/nodes?shard=x': ['1.82'],
  '/v1/nodes?sharded=true': ['1.82'],
  '/v1/nodes?parent_node=x': ['1.83'],
  '/v1/nodes?include_children=true': ['1.83'],
  '/v1/nodes?instance_name=x': ['1.104'],
  '/v1/nodes?fields=name': ['1.5', '1.8'],
  '/v1/nodes/mv?fields=owner': ['1.8', '1.50'],
  '/v1/nodes/mv.json': ['1.91'],
  '/v1/nodes/detail': ['1.43'],
  '/v1/nodes/mv/ports': ['1.8'],
  '/v1/nodes/mv/portgroups': ['1.24'],
  '/v1/nodes/mv/vifs': ['1.28'],
  '/v1/nodes/mv/traits': ['1.37'],
  '/v1/nodes/mv/bios': ['1.40'],
  '/v1/nodes/mv/bios?detail=true': ['1.74'],
  '/v1/nodes/mv/firmware': ['1.86'],
  '/v1/nodes/mv/history': ['1.78'],
  '/v1/nodes/mv/inventory': ['1.81'],
  '/v1/nodes/mv/volume': ['1.32'],
  '/v1/nodes/mv/allocation': ['1.52'],
  '/v1/nodes/mv/children': ['1.83'],
  '/v1/nodes/mv/vmedia': ['1.93'],
  '/v1/nodes/mv/management/boot_device': ['1.6'],
  '/v1/nodes/mv/management/indicators': ['1.63'],
  '/v1/nodes/mv/states/console': [],
  '/v1/nodes/mv/maintenance': [],
  '/v1/portgroups': ['1.23'],
  '/v1/portgroups?shard=x': ['1.106'],
  '/v1/ports?node=mv': ['1.6'],
  '/v1/ports?portgroup=x': ['1.24'],
  '/v1/ports?shard=x': ['1.82'],
  '/v1/ports?conductor_groups=x': ['1.99'],
  '/v1/ports?fields=uuid': ['1.8'],
  '/v1/ports?detail=true': ['1.43'],
  '/v1/drivers': ['1.30'],
  '/v1/drivers?detail=true': ['1.30'],
  '/v1/drivers?type=dynamic': ['1.30'],
  '/v1/drivers?fields=name': ['1.77'],
  '/v1/drivers/fake-hardware?fields=name': ['1.77'],
  '/v1/drivers/fake-hardware/raid/logical_disk_properties': ['1.12'],
  '/v1/volume': ['1.32'],
  '/v1/volume/connectors': ['1.32'],
  '/v1/conductors': ['1.49'],
  '/v1/conductors/none': ['1.49'],
  '/v1/allocations': ['1.52'],
  '/v1/allocations?owner=x': ['1.60'],
  '/v1/deploy_templates': ['1.55'],
  '/v1/runbooks': ['1.92'],
  '/v1/inspection_rules': ['1.96'],
  '/v1/shards': ['1.82'],
  '/v1/events': ['1.54'],
  '/v1/lookup?addresses=52:54:00:00:00:99': ['1.22'],
}

const minor = (version: string): number => Number(version.slice(2))
const at = (path: string) => path.replace('/mv', `/${idOf('mv')}`)

/** Compares the fields, states and endpoints that each microversion shows of the same node. */
export function microversions(): Script {
  const bad = ['1.0', '1.999', '2.1', 'latest', 'nonsense', '1', '', '-1.1', '1.1.1', '1.01', '1.1.', '1.5 ', 'Latest']
  const standard = (value: string): Call => ({
    ...get('/v1/nodes', null),
    headers: { 'openstack-api-version': value },
  })
  return {
    name: 'microversions',
    calls: [
      enrol('mv', { resource_class: 'x' }),
      post('/v1/portgroups', { node_uuid: idOf('mv'), uuid: idOf('mv group'), name: 'mv-group' }),
      post('/v1/ports', {
        ...{ node_uuid: idOf('mv'), address: '52:54:00:00:00:99', uuid: idOf('mv port') },
        ...{ portgroup_uuid: idOf('mv group'), name: 'mv-port' },
      }),
      ...VERSIONS.flatMap((version) => SHOWN.map((path) => get(at(path), version))),
      ...Object.entries(GATES).flatMap(([path, versions]) => [
        ...versions.flatMap((version) => [get(at(path), `1.${minor(version) - 1}`), get(at(path), version)]),
        get(at(path), null),
      ]),
      ...['/', '/v1', '/v1/', '/v1/nodes/mv', '/v1/nodes/mv/validate', '/v1/nodes/mv/ports'].flatMap((path) => [
        get(path, null),
        get(path),
      ]),
      ...bad.map((version) => get('/v1/nodes', version)),
      ...['baremetal 1.50', 'baremetal latest', 'baremetal', 'compute 2.1', 'baremetal 1.50,compute 2.1'].map(standard),
      // States had other names once.
      put(`/v1/nodes/${idOf('mv')}/states/provision`, { target: 'nonsense' }, '1.1'),
      ...['1.1', '1.2', '1.10', '1.11'].flatMap((version) => [
        { ...post('/v1/nodes', { driver: 'fake-hardware' }, version), keep: { old: 'uuid' } },
        get('/v1/nodes/{old}', version),
        get('/v1/nodes/{old}'),
        del('/v1/nodes/{old}'),
      ]),
      del(`/v1/ports/${idOf('mv port')}`),
      del(`/v1/portgroups/${idOf('mv group')}`),
      del('/v1/nodes/mv', '1.1'),
      del('/v1/nodes/mv'),
    ],
  }
}
