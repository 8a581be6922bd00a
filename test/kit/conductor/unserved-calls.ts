/** Calls about records whose conductor is away, and what ironic 39.0.0 answers, which the real one is asked for too. */

const NODE = '1be26c0b-03f2-4d2e-ae87-c02d7f33c123'
/** It waits for its agent. */
const INSPECTED = '2be26c0b-03f2-4d2e-ae87-c02d7f33c123'
const PORT = '3be26c0b-03f2-4d2e-ae87-c02d7f33c123'
const PORTGROUP = '4be26c0b-03f2-4d2e-ae87-c02d7f33c123'
const CONNECTOR = '5be26c0b-03f2-4d2e-ae87-c02d7f33c123'
const TARGET = '6be26c0b-03f2-4d2e-ae87-c02d7f33c123'
const ALLOCATION = '7be26c0b-03f2-4d2e-ae87-c02d7f33c123'
const MAC = '52:54:00:39:00:01'

/** A question about a driver, the answer to which the API keeps. */
export const REMEMBERED_CALL: PreparingCall = { method: 'GET', path: '/drivers/fake-hardware/properties' }

/** The group that the conductor has joined since the records were made. */
export const OTHER_GROUP = 'rack-1'

export interface PreparingCall {
  readonly method: string
  /** Below `/v1`. */
  readonly path: string
  readonly body?: unknown
}

/** The records, while their conductor is alive. */
export const PREPARING_CALLS: readonly PreparingCall[] = [
  { method: 'POST', path: '/nodes', body: { uuid: NODE, driver: 'fake-hardware', raid_interface: 'fake' } },
  { method: 'POST', path: '/nodes', body: { uuid: INSPECTED, driver: 'fake-hardware', inspect_interface: 'agent' } },
  { method: 'POST', path: '/ports', body: { uuid: PORT, node_uuid: NODE, address: '52:54:00:39:00:00' } },
  { method: 'POST', path: '/ports', body: { node_uuid: INSPECTED, address: MAC } },
  { method: 'POST', path: '/portgroups', body: { uuid: PORTGROUP, node_uuid: NODE } },
  {
    method: 'POST',
    path: '/volume/connectors',
    body: { uuid: CONNECTOR, node_uuid: NODE, type: 'iqn', connector_id: 'iqn.2026-11.test:a' },
  },
  {
    method: 'POST',
    path: '/volume/targets',
    body: { uuid: TARGET, node_uuid: NODE, volume_type: 'iscsi', boot_index: 0, volume_id: 'a' },
  },
  { method: 'POST', path: '/allocations', body: { uuid: ALLOCATION, resource_class: 'none-has-it' } },
  { method: 'PUT', path: `/nodes/${INSPECTED}/states/provision`, body: { target: 'manage' } },
]

/** The node that is to be `manageable` before it is inspected, and `inspect wait` after. */
export const inspectedNode = { path: `/nodes/${INSPECTED}`, inspect: { target: 'inspect' } }

interface UnservedCall extends PreparingCall {
  /** Status and sentence while no conductor is alive. */
  readonly none: readonly [status: number, sentence?: string]
  /** While one is alive, of {@link OTHER_GROUP}; absent where it would carry out the call. */
  readonly elsewhere?: readonly [status: number, sentence?: string]
}

const TEMPORARY = 'Resource temporarily unavailable, please retry.'
const NO_HOST =
  'No valid host was found. Reason: No conductor service registered which supports driver fake-hardware for conductor group "". Ensure the driver is valid and enabled.'
const NO_CONDUCTORS = 'No conductors registered.'
const unknown = (driver: string): string => `The driver '${driver}' is unknown.`

const EXTRA = [{ op: 'add', path: '/extra/a', value: 1 }]

/** A call that asks for the conductor of a node. */
const asking =
  (status: 400 | 404) =>
  (method: string, path: string, body?: unknown): UnservedCall => ({
    method,
    path,
    ...(body === undefined ? undefined : { body }),
    none: [503, TEMPORARY],
    elsewhere: [status, NO_HOST],
  })
const missing = asking(404)
const wrong = asking(400)

/** A call that the API carries out by itself. */
const free = (path: string, body: object): UnservedCall => ({ method: 'POST', path, body, none: [201] })

/** A call about a driver. */
const about = (driver: string, method: string, path: string): UnservedCall => ({
  method,
  path: `/drivers/${driver}/${path}`,
  none: [404, NO_CONDUCTORS],
  ...(driver === 'nosuch' ? { elsewhere: [404, unknown(driver)] as const } : undefined),
})

const node = (path: string): string => `/nodes/${NODE}${path}`

/** In an order in which none spoils another, each asked first with no conductor, then with that of the other group. */
const UNSERVED_CALLS: readonly UnservedCall[] = [
  missing('POST', '/ports', { node_uuid: NODE, address: '52:54:00:39:00:09' }),
  missing('PATCH', `/ports/${PORT}`, EXTRA),
  missing('DELETE', `/ports/${PORT}`),
  missing('PATCH', `/portgroups/${PORTGROUP}`, EXTRA),
  missing('DELETE', `/portgroups/${PORTGROUP}`),
  missing('PATCH', `/volume/connectors/${CONNECTOR}`, EXTRA),
  missing('DELETE', `/volume/connectors/${CONNECTOR}`),
  missing('PATCH', `/volume/targets/${TARGET}`, EXTRA),
  missing('DELETE', `/volume/targets/${TARGET}`),
  missing('POST', '/allocations', { node: NODE, resource_class: 'a' }),
  { method: 'POST', path: '/allocations', body: { resource_class: 'a' }, none: [503, TEMPORARY] },
  { method: 'DELETE', path: `/allocations/${ALLOCATION}`, none: [503, TEMPORARY] },
  missing('PUT', node('/traits'), { traits: ['CUSTOM_A'] }),
  missing('PUT', node('/traits/CUSTOM_A')),
  missing('DELETE', node('/traits')),
  missing('DELETE', node('/traits/CUSTOM_NONE')),
  missing('PUT', node('/states/raid'), { logical_disks: 'nonsense' }),
  missing('PUT', node('/states/power'), { target: 'power on' }),
  missing('PUT', node('/states/power'), { target: 'nonsense' }),
  missing('PUT', node('/states/provision'), { target: 'manage' }),
  missing('PUT', node('/states/boot_mode'), { target: 'uefi' }),
  missing('PUT', node('/states/secure_boot'), { target: true }),
  missing('GET', node('/states/console')),
  missing('PUT', node('/states/console'), { enabled: true }),
  missing('GET', node('/management/boot_device')),
  missing('GET', node('/management/boot_device/supported')),
  missing('PUT', node('/management/boot_device'), { boot_device: 'pxe' }),
  missing('PUT', node('/management/inject_nmi'), {}),
  missing('GET', node('/management/indicators')),
  missing('GET', node('/management/indicators/led@chassis')),
  missing('PUT', node('/management/indicators/led@chassis'), { state: 'on' }),
  missing('GET', node('/validate')),
  missing('GET', node('/vendor_passthru/methods')),
  missing('POST', node('/vendor_passthru?method=nosuch'), {}),
  wrong('PUT', node('/maintenance'), { reason: 'a' }),
  wrong('DELETE', node('/maintenance')),
  wrong('PATCH', node(''), EXTRA),
  wrong('GET', node('/vifs')),
  wrong('POST', node('/vifs'), { id: 'a' }),
  wrong('DELETE', node('/vifs/a')),
  wrong('GET', node('/vmedia')),
  wrong('POST', node('/vmedia'), { device_type: 'cdrom', image_url: 'http://images.test/a.iso' }),
  wrong('DELETE', node('/vmedia')),
  wrong('DELETE', node('')),
  wrong('POST', '/nodes', { driver: 'fake-hardware' }),
  wrong('GET', `/lookup?node_uuid=${INSPECTED}`),
  wrong('POST', `/heartbeat/${INSPECTED}`, { callback_url: 'http://agent.test', agent_token: 'a' }),
  wrong('POST', '/continue_inspection', { inventory: { interfaces: [{ mac_address: MAC }] } }),
  free('/portgroups', { node_uuid: NODE }),
  free('/volume/connectors', { node_uuid: NODE, type: 'iqn', connector_id: 'iqn.2026-11.test:b' }),
  free('/volume/targets', { node_uuid: NODE, volume_type: 'iscsi', boot_index: 1, volume_id: 'b' }),
  free('/chassis', {}),
  { method: 'GET', path: '/drivers', none: [200] },
  {
    method: 'GET',
    path: '/drivers/fake-hardware',
    none: [404, 'Could not find the following driver(s) or hardware type(s): fake-hardware.'],
  },
  ...['fake-hardware', 'nosuch'].flatMap((driver) => [
    about(driver, 'GET', 'properties'),
    about(driver, 'GET', 'vendor_passthru/methods'),
    about(driver, 'POST', 'vendor_passthru/nosuch'),
    about(driver, 'GET', 'raid/logical_disk_properties'),
  ]),
]

export type UnservedSituation = 'none' | 'elsewhere'

/** The calls that are asked in a situation. */
export const callsOf = (situation: UnservedSituation): readonly UnservedCall[] =>
  UNSERVED_CALLS.filter((call) => call[situation] !== undefined)

/** The compared part of an answer. */
export interface UnservedAnswer {
  readonly call: string
  readonly status: number
  /** Null for a success. */
  readonly sentence: string | null
}

const nameOf = ({ method, path }: PreparingCall): string => `${method} ${path}`

export const wantedOf = (call: UnservedCall, situation: UnservedSituation): UnservedAnswer => {
  const [status, sentence = null] = call[situation]!
  return { call: nameOf(call), status, sentence }
}

export const answerTo = (
  call: PreparingCall,
  { status, sentence }: { status: number; sentence: string },
): UnservedAnswer => ({ call: nameOf(call), status, sentence: status < 400 ? null : sentence })
