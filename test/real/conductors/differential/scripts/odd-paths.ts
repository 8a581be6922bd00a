import { away, del, enrol, FAKES, get, idOf, post, put, type Call, type Script } from '../script.js'

const READ = [
  'states',
  'states/console',
  'management',
  'management/boot_device',
  'management/boot_device/supported',
  'management/indicators',
  'management/indicators/system',
  'management/inject_nmi',
  'maintenance',
  'vendor_passthru',
  'vendor_passthru/methods',
  'validate',
  'detail',
  'ports',
  'portgroups',
  'traits',
  'vifs',
  'bios',
  'firmware',
  'history',
  'inventory',
  'children',
  'allocation',
  'vmedia',
  'volume',
  'volume/connectors',
  'states/power',
  'states/provision',
]
const WRITTEN: Readonly<Record<string, unknown>> = {
  'states/power': { target: 'power on' },
  'states/provision': { target: 'nonsense' },
  'states/raid': {},
  'states/boot_mode': { target: 'nonsense' },
  'states/secure_boot': { target: 'nonsense' },
  'states/console': { enabled: false },
  'management/boot_device': { boot_device: 'pxe' },
  'management/inject_nmi': {},
  'management/indicators/system': { state: 'nonsense' },
  maintenance: { reason: 'x' },
  traits: { traits: [] },
}
/** The same sub-resource with the node elsewhere in the path, or in the query. */
function placesOf(node: string, sub: string): string[] {
  const [first = '', ...rest] = sub.split('/')
  return [
    `/v1/nodes/${sub}/${node}`,
    `/v1/nodes/${sub}?node_ident=${node}`,
    `/v1/nodes/${node}/${sub}?node_ident=${node}`,
    ...(rest.length > 0 ? [`/v1/nodes/${first}/${node}/${rest.join('/')}`] : []),
    // Lists are of all nodes, also those of other scripts, unless they are of an owner that has none.
    `/v1/nodes/${sub}${sub === 'detail' ? '?owner=odd' : ''}`,
    `/v1/nodes/${node}/${sub}/`,
  ]
}

/** Paths by which pecan reaches the controllers of a node besides the documented ones. */
export function oddPaths(): Script {
  const node = idOf('odd')
  const none = idOf('none')
  const other = ['/v1/nodes/states/nonsense', '/v1/nodes/states/console/nonsense', `/v1/nodes/states/${none}`]
  return {
    name: 'a node elsewhere in the path',
    calls: [
      enrol('odd', { ...FAKES, vendor_interface: 'fake' }),
      ...READ.flatMap((sub) => placesOf(node, sub).map((path) => [get(path)])),
      ...READ.map((sub) => [get(`/v1/nodes/${sub}/odd`)]),
      ...READ.flatMap((sub) => [
        [get(`/v1/nodes/${node}/${sub}.json`)],
        [get(`/v1/nodes/${node}/${sub}.json`, '1.90')],
      ]),
      ...['states', 'states/console', 'management/boot_device'].map((sub) => [get(`/v1/nodes/${sub}/odd`, '1.4')]),
      ...other.map((path) => [get(path)]),
      ...[`/v1/nodes/${node}/`, `/v1/nodes/${node}.json`, '/v1/nodes/odd.json', '/v1/nodes.json?owner=odd'].flatMap(
        (path) => [[get(path)], [get(path, '1.90')]],
      ),
      [get(`/v1/nodes?node_ident=${node}`)],
      [get(`/v1/nodes/?node_ident=${node}`)],
      [get(`/v1/nodes/validate?node=${node}`)],
      [get(`/v1/nodes/validate?node_uuid=${node}`)],
      [get(`/v1/nodes/validate?node=odd`)],
      [get(`/v1/nodes/${node}/validate?node_uuid=${none}`)],
      [get(`/v1/nodes/${node}/uuid`)],
      [get(`/v1/nodes/${node}?fields=uuid&fields=name`)],
      ...Object.entries(WRITTEN).flatMap(([sub, body]) => placesOf(node, sub).map((path): Call[] => [put(path, body)])),
      ...['maintenance', 'traits', 'vifs', 'vmedia', 'states'].flatMap((sub) =>
        placesOf(node, sub).map((path): Call[] => [del(path)]),
      ),
      ...['first_method', `${node}/first_method`, `first_method/${node}`, `${node}?method=first_method`].map((path) => [
        post(`/v1/nodes/vendor_passthru/${path}`, { bar: 'baz' }),
      ]),
      [post(`/v1/nodes/vendor_passthru?node_ident=${node}&method=first_method`, { bar: 'baz' })],
      ...[
        'properties/fake-hardware',
        'properties?driver_name=fake-hardware',
        'properties',
        'fake-hardware/',
        'vendor_passthru/methods/fake-hardware',
        'vendor_passthru/fake-hardware/methods',
        'fake-hardware.json',
        'vendor_passthru/methods?driver_name=fake-hardware',
        'raid/logical_disk_properties/fake-hardware',
        'raid/fake-hardware/logical_disk_properties',
        'raid/logical_disk_properties?driver_name=fake-hardware',
      ].map((path) => [get(`/v1/drivers/${path}`)]),
      ...away('odd'),
    ],
  }
}
