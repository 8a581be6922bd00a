import { away, del, enrol, FAKES, get, idOf, led, patch, post, put, set, verb, type Script } from '../script.js'

/** Settings that a client notices, each the other way round than the rest of the suite has it. */
export const SETTINGS = {
  DEFAULT: {
    default_raid_interface: 'no-raid',
    default_bios_interface: 'no-bios',
    default_inspect_interface: 'fake',
    default_deploy_interface: 'fake',
    default_rescue_interface: 'no-rescue',
    default_vendor_interface: 'fake',
  },
  api: {
    max_limit: 3,
    public_endpoint: 'http://ironic.example:6385',
    restrict_lookup: 'false',
    disallow_clean_steps: 'raid.create_configuration',
    disallow_deploy_steps: 'bios.apply_configuration',
  },
  conductor: {
    allow_deleting_available_nodes: 'false',
    automated_clean: 'false',
    node_history: 'false',
    allow_provisioning_in_maintenance: 'false',
    node_history_max_entries: 1,
    max_conductor_wait_step_seconds: 1,
  },
  deploy: { fast_track: 'true', default_boot_mode: 'bios' },
} as const

export function configured(): Script[] {
  const node = idOf('configured')
  const other = idOf('configured-other')
  return [
    {
      name: 'pages and links',
      calls: [
        ...['one', 'two', 'three', 'four'].map((name) => enrol(`page-${name}`)),
        ...['one', 'two', 'three', 'four'].map((name, index) =>
          post('/v1/ports', { node_uuid: idOf(`page-${name}`), address: `52:54:00:cc:00:0${index}` }),
        ),
        ...['nodes', 'ports'].flatMap((list) =>
          ['', '?limit=2', '?limit=100', '?limit=0', '?detail=true', '?sort_dir=desc'].map((query) =>
            get(`/v1/${list}${query}`),
          ),
        ),
        get(`/v1/nodes?marker=${idOf('page-three')}`),
        get('/'),
        get('/v1'),
        get('/v1/nodes/page-one'),
        post('/v1/nodes', { driver: 'fake-hardware', name: 'page-made', uuid: idOf('page-made') }),
        del('/v1/nodes/page-made'),
        get('/v1/drivers/fake-hardware'),
        ...['one', 'two', 'three', 'four'].map((name) => del(`/v1/nodes/page-${name}`)),
      ],
    },
    {
      name: 'nodes',
      calls: [
        enrol('configured'),
        post('/v1/ports', { node_uuid: node, address: '52:54:00:cd:00:01' }),
        get(`/v1/lookup?addresses=52:54:00:cd:00:01`, '1.61'),
        get(`/v1/lookup?node_uuid=${node}`),
        post(`/v1/heartbeat/${node}`, { callback_url: 'https://h', agent_token: 'x', agent_version: '13.0.0' }),
        led(node, 'manage'),
        verb(node, 'clean', { clean_steps: [{ interface: 'raid', step: 'create_configuration' }] }),
        verb(node, 'inspect'),
        get(`/v1/nodes/${node}/inventory`),
        led(node, 'provide'),
        del(`/v1/nodes/${node}`),
        verb(node, 'active', {
          deploy_steps: [{ interface: 'bios', step: 'apply_configuration', priority: 5, args: {} }],
        }),
        put(`/v1/nodes/${node}/maintenance`, { reason: 'x' }),
        verb(node, 'active'),
        verb(node, 'manage'),
        verb(node, 'provide'),
        del(`/v1/nodes/${node}/maintenance`),
        verb(node, 'active'),
        verb(node, 'rescue', { rescue_password: 'x' }),
        patch(`/v1/nodes/${node}`, [set('/automated_clean', true)]),
        verb(node, 'deleted'),
        get(`/v1/nodes/${node}/history?detail=true`),
        get(`/v1/nodes/${node}/validate`),
        get(`/v1/nodes/${node}`),
        ...away('configured'),
        enrol('configured-other', FAKES),
        led(other, 'manage'),
        ...[1, 2].flatMap(() => [
          verb(other, 'clean', { clean_steps: [{ interface: 'deploy', step: 'none' }] }),
          verb(other, 'manage'),
        ]),
        get(`/v1/nodes/${other}/history`),
        ...away('configured-other'),
      ],
    },
  ]
}
