import {
  away,
  enrol,
  FAKES,
  get,
  idOf,
  led,
  patch,
  post,
  put,
  rested,
  set,
  verb,
  type Call,
  type Script,
} from '../script.js'

/** Interfaces that an adoption prepares the boot of, beside the fake ones. No BMC stands behind them. */
export const ADOPTION_SETTINGS = {
  DEFAULT: {
    enabled_hardware_types: 'fake-hardware,redfish',
    enabled_boot_interfaces: 'fake,ipxe,redfish-virtual-media',
    enabled_network_interfaces: 'noop',
    enabled_deploy_interfaces: 'custom-agent,direct,ramdisk,fake,autodetect',
    autodetect_deploy_interfaces: 'ramdisk,direct',
    enabled_management_interfaces: 'fake,redfish',
    enabled_power_interfaces: 'fake,redfish',
    enabled_console_interfaces: 'fake,no-console',
    enabled_bios_interfaces: 'fake,no-bios,redfish',
    default_bios_interface: 'no-bios',
    enabled_firmware_interfaces: 'fake,no-firmware,redfish',
    default_firmware_interface: 'no-firmware',
  },
  redfish: { connection_attempts: 1, connection_retry_interval: 1 },
} as const

const image = (url: string, more: Readonly<Record<string, unknown>> = {}) => ({ image_source: url, ...more })
/** Nothing listens there. */
const NOWHERE = 'http://127.0.0.1:9/image'

/** Nodes to adopt: interfaces that replace the fake ones, and further fields. */
const NODES: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  'an agent and no image': { deploy_interface: 'custom-agent' },
  'an agent and an image': { deploy_interface: 'direct', instance_info: image(NOWHERE) },
  'an image that is a path': { deploy_interface: 'direct', instance_info: image('/images/one') },
  'an image of a word': { instance_info: image('nonsense') },
  'an image of an unknown protocol': { instance_info: image('gopher://127.0.0.1/image') },
  'an image of a known type that is a word': { instance_info: image('nonsense', { image_type: 'partition' }) },
  'an image with its kernel': { instance_info: image(NOWHERE, { kernel: 'http://127.0.0.1:9/k' }) },
  'a container': { deploy_interface: 'direct', instance_info: image('oci://127.0.0.1:9/image') },
  'wrong capabilities': { deploy_interface: 'custom-agent', instance_info: { capabilities: 'nonsense' } },
  'wrong capabilities and PXE': {
    deploy_interface: 'custom-agent',
    boot_interface: 'ipxe',
    instance_info: { capabilities: 'nonsense' },
  },
  'listed capabilities and PXE': {
    deploy_interface: 'custom-agent',
    boot_interface: 'ipxe',
    instance_info: { capabilities: ['nonsense'] },
  },
  'a ramdisk and nothing to boot': { deploy_interface: 'ramdisk' },
  'PXE and no port': { deploy_interface: 'custom-agent', boot_interface: 'ipxe' },
  'iPXE and BIOS': {
    deploy_interface: 'custom-agent',
    boot_interface: 'ipxe',
    properties: { capabilities: 'boot_mode:bios' },
  },
  'a ramdisk by PXE and no port': { deploy_interface: 'ramdisk', boot_interface: 'ipxe' },
  'a ramdisk by PXE of an ISO': {
    deploy_interface: 'ramdisk',
    boot_interface: 'ipxe',
    instance_info: { boot_iso: 'http://127.0.0.1:9/iso' },
    driver_info: { deploy_kernel: NOWHERE, deploy_ramdisk: NOWHERE },
  },
  'autodetect and a ramdisk': {
    deploy_interface: 'autodetect',
    instance_info: { boot_iso: 'http://127.0.0.1:9/iso', ironic_ramdisk_deploy: true },
  },
  'autodetect and an image of a word': { deploy_interface: 'autodetect', instance_info: image('nonsense') },
  autodetect: { deploy_interface: 'autodetect' },
}

export function adoption(): Script[] {
  return [
    ...Object.entries(NODES).map(([what, more]) => adopted(what, more)),
    ...['a ramdisk by PXE with a port', 'a ramdisk by PXE with a port and half an image'].map((what, index) =>
      adopted(
        what,
        {
          deploy_interface: 'ramdisk',
          boot_interface: 'ipxe',
          driver_info: { deploy_kernel: NOWHERE, deploy_ramdisk: NOWHERE },
          instance_info: index === 0 ? {} : { kernel: NOWHERE },
        },
        (node) => [post('/v1/ports', { node_uuid: node, address: `52:54:00:ad:00:0${index}` })],
      ),
    ),
    adopted('a console', {}, (node) => [rested(node, put(`/v1/nodes/${node}/states/console`, { enabled: true }))]),
    adopted('a console that it lost', {}, (node) => [
      rested(node, put(`/v1/nodes/${node}/states/console`, { enabled: true })),
      patch(`/v1/nodes/${node}`, [set('/console_interface', 'no-console')]),
    ]),
    adopted('maintenance', {}, (node) => [put(`/v1/nodes/${node}/maintenance`, { reason: 'x' })]),
    ...unreachable(),
  ]
}

/**
 * Nodes without an address of a BMC, or whose BMC is not contacted. ironstage makes a machine for any other address.
 */
function unreachable(): Script[] {
  const address = { redfish_address: 'http://127.0.0.1:9' }
  const moves = (node: string, info: unknown): Call[] => [
    // Its BMC cannot be verified, so it is made manageable as another.
    patch(`/v1/nodes/${node}`, [
      set('/driver', 'redfish'),
      set('/driver_info', info),
      ...['management', 'power', 'boot', 'bios', 'raid', 'inspect', 'rescue', 'vendor', 'firmware', 'console'].map(
        (of) => set(`/${of}_interface`, INTERFACES[of]),
      ),
      set('/deploy_interface', 'custom-agent'),
    ]),
  ]
  return [
    adopted('a BMC that is not named', {}, (node) => moves(node, {})),
    adopted('a BMC that is not there and the fake deployment', {}, (node) => [
      ...moves(node, address),
      patch(`/v1/nodes/${node}`, [set('/deploy_interface', 'direct'), set('/instance_info', image('nonsense'))]),
    ]),
  ]
}

const INTERFACES: Readonly<Record<string, string>> = {
  management: 'redfish',
  power: 'redfish',
  boot: 'redfish-virtual-media',
  bios: 'no-bios',
  raid: 'no-raid',
  inspect: 'agent',
  rescue: 'no-rescue',
  vendor: 'no-vendor',
  firmware: 'no-firmware',
  console: 'no-console',
}

/** Adopted twice, since a failure can be tried again; then made manageable, which an adopted node refuses. */
function adopted(what: string, more: Readonly<Record<string, unknown>>, before: (node: string) => Call[] = () => []) {
  const name = `adopted-with-${what}`.replaceAll(' ', '-')
  const node = idOf(name)
  return {
    name: `adopted with ${what}`,
    calls: [
      enrol(name, { ...FAKES, ...more }),
      led(node, 'manage'),
      ...before(node),
      verb(node, 'adopt'),
      get(`/v1/nodes/${node}`),
      verb(node, 'adopt'),
      get(`/v1/nodes/${node}/history?detail=true`),
      verb(node, 'manage'),
      ...away(name),
    ],
  }
}
