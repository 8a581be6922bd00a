import { del, enrol, get, idOf, post, type Call, type Script } from '../script.js'

/** Objects that may be created, and the errors of all others. */
export function creations(): Script {
  const bodies: unknown[] = [
    {},
    { driver: 'none' },
    { driver: 'fake-hardware', name: 'bad name' },
    { driver: 'fake-hardware', name: 'a'.repeat(300) },
    { driver: 'fake-hardware', name: '' },
    { driver: 'fake-hardware', name: 'detail' },
    { driver: 'fake-hardware', uuid: 'abc' },
    { driver: 'fake-hardware', extra: 'text' },
    { driver: 'fake-hardware', properties: null },
    { driver: 'fake-hardware', driver_info: [] },
    { driver: 'fake-hardware', nonsense: 1 },
    { driver: 'fake-hardware', provision_state: 'active' },
    { driver: 'fake-hardware', power_state: 'power on' },
    { driver: 'fake-hardware', maintenance: true },
    { driver: 'fake-hardware', deploy_interface: 'nonsense' },
    { driver: 'fake-hardware', deploy_interface: 'direct', boot_interface: 'fake' },
    { driver: 'fake-hardware', resource_class: 'x'.repeat(100) },
    { driver: 'fake-hardware', resource_class: null },
    { driver: 'fake-hardware', owner: 7 },
    { driver: 'fake-hardware', conductor_group: 'no group' },
    { driver: 'fake-hardware', conductor_group: 'empty' },
    { driver: 'fake-hardware', chassis_uuid: idOf('no chassis') },
    { driver: 'fake-hardware', chassis_uuid: 'abc' },
    { driver: 'fake-hardware', parent_node: idOf('no parent') },
    { driver: 'fake-hardware', automated_clean: 'yes' },
    { driver: 'fake-hardware', protected: true },
    { driver: 'fake-hardware', retired: true },
    { driver: 'fake-hardware', retired_reason: 'why' },
    { driver: 'fake-hardware', instance_uuid: 'abc' },
    { driver: 'fake-hardware', instance_info: { secret: 'x', image_url: 'http://u:p@h/i' } },
    { driver: 'fake-hardware', network_data: { links: 1 } },
    { driver: 'fake-hardware', traits: ['CUSTOM_A'] },
    { driver: 'fake-hardware', description: 'x'.repeat(5000) },
    { driver: 'fake-hardware', shard: 'x'.repeat(300) },
    { driver: 'fake-hardware', storage_interface: 'cinder' },
    { driver: 'fake-hardware', disable_power_off: true },
    { driver: 'fake-hardware', disable_power_off: 'x' },
    { driver: 'fake-hardware', firmware_interface: 'no-firmware', bios_interface: 'no-bios' },
    [],
    'text',
    null,
    7,
  ]
  const calls: Call[] = bodies.map((body) => ({
    ...post('/v1/nodes', body === 'text' ? '"text"' : body, undefined),
    keep: { made: 'uuid' },
  }))
  return {
    name: 'creating nodes',
    calls: [
      // Those that are made have no name, and are removed at once so that no list shows them.
      ...calls.map((call) => [call, del('/v1/nodes/{made}')]),
      enrol('made-twice'),
      post('/v1/nodes', { driver: 'fake-hardware', name: 'made-twice', uuid: idOf('made-twice') }),
      post('/v1/nodes', { driver: 'fake-hardware', uuid: idOf('made-twice') }),
      post('/v1/nodes', { driver: 'fake-hardware', name: 'made-twice' }),
      post('/v1/nodes', { driver: 'fake-hardware', name: 'made-twice' }, '1.4'),
      [post('/v1/nodes', '{"driver": ')],
      post('/v1/nodes', ''),
      { ...post('/v1/nodes', { driver: 'fake-hardware' }), headers: { 'content-type': 'text/plain' } },
      ...['1.1', '1.5', '1.10', '1.11', '1.33', '1.50'].map((version) => [
        { ...post('/v1/nodes', { driver: 'fake-hardware' }, version), keep: { made: 'uuid' } },
        get('/v1/nodes/{made}'),
        del('/v1/nodes/{made}'),
      ]),
      ...['resource_class', 'owner', 'description', 'shard', 'lessee', 'firmware_interface', 'rescue_interface'].map(
        (field) => post('/v1/nodes', { driver: 'fake-hardware', [field]: 'x' }, '1.10'),
      ),
      del('/v1/nodes/made-twice'),
    ],
  }
}
