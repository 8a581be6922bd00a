import { del, enrol, get, idOf, patch, set, type Call, type Script } from '../script.js'

/** Every filter, order and page of the list of nodes, alone and with others. */
export function lists(): Script {
  const nodes: Call[] = [
    enrol('list-a', { resource_class: 'big', extra: { row: 1 }, properties: { cpu_arch: 'x86_64' } }),
    enrol('list-b', { resource_class: 'small', lessee: 'bob', description: 'the second node', shard: 'left' }),
    enrol('list-c', { conductor_group: '', instance_name: 'guest', instance_uuid: idOf('instance-c') }),
    enrol('list-d', { parent_node: idOf('list-a'), shard: 'right' }),
    enrol('list-e', { description: 'ANOTHER node', automated_clean: false, retired: true, retired_reason: 'old' }),
    patch('/v1/nodes/list-a', [set('/owner', 'ann')]),
    patch('/v1/nodes/list-d', [set('/owner', 'bob')]),
    { method: 'PUT', path: '/v1/nodes/list-e/maintenance', body: { reason: 'broken' } },
  ]
  const filters = [
    ...['associated=true', 'associated=false', 'associated=maybe', 'maintenance=true', 'maintenance=0', 'retired=True'],
    ...['provision_state=enroll', 'provision_state=available', 'provision_state=nonsense', 'provision_state='],
    ...['driver=fake-hardware', 'driver=none', 'resource_class=big', 'fault=none', 'fault=power+failure'],
    ...['conductor_group=', 'conductor_group=x', 'conductor=nobody', 'owner=ann', 'lessee=bob', 'project=bob'],
    ...['description_contains=node', 'description_contains=another', 'shard=left', 'shard=left,right', 'sharded=true'],
    ...['sharded=false', `instance_uuid=${idOf('instance-c')}`, 'instance_uuid=abc', 'instance_name=guest'],
    ...[`parent_node=${idOf('list-a')}`, 'parent_node=list-a', 'include_children=true', 'chassis_uuid=abc'],
    ...['unknown=1', 'maintenance=true&retired=true', 'owner=bob&include_children=true', `chassis_uuid=${idOf('no')}`],
    ...['limit=2', 'limit=0', 'limit=-1', 'limit=abc', 'limit=2&sort_key=name', 'sort_key=name&sort_dir=desc'],
    ...['sort_key=name&sort_dir=up', 'sort_key=nonsense', 'sort_key=extra', 'sort_key=driver_info', 'sort_key=uuid'],
    ...['sort_key=chassis_uuid', 'sort_key=created_at&sort_dir=desc&limit=1', `marker=${idOf('list-b')}`],
    ...[
      `marker=${idOf('list-b')}&limit=1`,
      `marker=${idOf('none')}`,
      'marker=list-b',
      'fields=uuid',
      'fields=name,uuid',
    ],
    ...['fields=uuid,nonsense', 'fields=', 'fields=uuid&detail=true', 'detail=true', 'detail=false', 'detail=what'],
    ...['fields=extra,properties', 'fields=driver_info', 'fields=links', 'fields=ports', 'fields=name&limit=2'],
    ...['limit=2&detail=true&sort_key=name', 'fields=traits,conductor', 'fields=allocation_uuid,chassis_uuid'],
    ...['limit=2&maintenance=false&sort_key=created_at', 'limit=1&associated=false&detail=true', 'limit=1&shard=left'],
    ...[`limit=1&sort_key=name&sort_dir=desc&marker=${idOf('list-c')}`, 'limit=1&provision_state=enroll&fields=name'],
    ...[
      'limit=1&retired=true',
      'limit=1&driver=fake-hardware',
      'limit=1&resource_class=big&owner=ann',
      'limit=1&sharded=1',
    ],
    ...['limit=1&conductor_group=', 'limit=1&description_contains=node', 'limit=1&fault=none', 'limit=1&chassis_uuid='],
    ...['fields=provision_state&owner=bob&include_children=true&limit=1', 'fields=uuid,uuid', 'limit=5000'],
  ]
  return {
    name: 'lists of nodes',
    calls: [
      ...nodes,
      get('/v1/nodes'),
      ...filters.map((filter) => get(`/v1/nodes?${filter}`)),
      ...['', '?limit=1', '?fields=uuid', '?sort_key=name', '?owner=ann', '?detail=true', '?limit=-2'].map((query) =>
        get(`/v1/nodes/detail${query}`),
      ),
      ...['fields=uuid,name', 'fields=nonsense', 'fields=', 'detail=true', 'fields=links,ports'].map((query) =>
        get(`/v1/nodes/list-a?${query}`),
      ),
      get('/v1/nodes/list-a/children'),
      get('/v1/nodes/list-d/children'),
      get('/v1/nodes/list-a/states'),
      get('/v1/nodes/none'),
      get(`/v1/nodes/${idOf('none')}`),
      get('/v1/nodes/not%20valid%2Fname'),
      get('/v1/shards'),
      get('/v1/shards', '1.81'),
      ...['list-d', 'list-a', 'list-b', 'list-c', 'list-e', 'list-e'].map((name) => del(`/v1/nodes/${name}`)),
      patch('/v1/nodes/list-c', [{ op: 'remove', path: '/instance_uuid' }]),
      del('/v1/nodes/list-c'),
    ],
  }
}
