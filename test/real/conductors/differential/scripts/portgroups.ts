import { add, del, enrol, get, idOf, patch, post, remove, set, type Script } from '../script.js'

export function portgroups(): Script {
  const owner = idOf('groups-owner')
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
    [add('/extra/a', 1)],
    [set('/name', 'renamed')],
    [set('/name', 'bad name')],
    [remove('/name')],
    [set('/address', '52:54:00:bb:00:02')],
    [set('/address', 'x')],
    [remove('/address')],
    [set('/mode', 'active-backup')],
    [remove('/mode')],
    [set('/properties', {})],
    [set('/properties', 'x')],
    [set('/standalone_ports_supported', false)],
    [set('/node_uuid', idOf('nobody'))],
    [set('/nonsense', 1)],
    [set('/uuid', 'x')],
  ]
  return {
    name: 'portgroups',
    calls: [
      enrol('groups-owner'),
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
      // Ironic trips.
      [patch(`/v1/portgroups/${idOf('group 2')}`, [remove('/standalone_ports_supported')])],
      post('/v1/ports', { node_uuid: owner, address: '52:54:00:bb:00:10', portgroup_uuid: idOf('group 1') }),
      del(`/v1/portgroups/${idOf('group 1')}`),
      del(`/v1/portgroups/${idOf('group 2')}`),
      del(`/v1/portgroups/${idOf('group 2')}`),
      del(`/v1/nodes/${owner}`),
    ],
  }
}
