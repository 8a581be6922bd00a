import { IronicError, pythonRepr, textOf, type JsonObject, type NodeRecord } from '../../wire/index.js'

/** A method of a vendor interface, as `GET /v1/nodes/X/vendor_passthru/methods` shows it. */
export interface VendorMethod {
  readonly http_methods: readonly string[]
  readonly async: boolean
  readonly description: string
  readonly attach: false
  readonly require_exclusive_lock: boolean
}

const method = (
  http: string,
  description: string,
  { sync = false, shared = false }: { sync?: boolean; shared?: boolean } = {},
): VendorMethod => ({
  http_methods: [http],
  async: !sync,
  description,
  attach: false,
  require_exclusive_lock: !shared,
})

const REDFISH = {
  create_subscription: method('POST', 'Subscribes to events of the BMC; takes Destination.', { sync: true }),
  delete_subscription: method('DELETE', 'Ends a subscription; takes its id.', { sync: true }),
  eject_vmedia: method('POST', 'Ejects virtual media: boot_device (cd, dvd, usb or floppy), or all.'),
  get_all_subscriptions: method('GET', 'Lists the subscriptions.', { sync: true }),
  get_subscription: method('GET', 'Shows a subscription; takes its id.', { sync: true }),
} as const

/** By vendor interface; the names, how they are called and whether they wait are upstream's. */
const METHODS: Readonly<Record<string, Readonly<Record<string, VendorMethod>>>> = {
  fake: {
    fourth_method_shared_lock: method('POST', 'Looks whether bar is woof.', { shared: true }),
    log_passthrough: method('POST', 'Writes to the log.'),
    second_method: method('POST', 'Looks whether bar is kazoo.'),
    third_method_sync: method('POST', 'Looks whether bar is meow, and says so.', { sync: true }),
  },
  ipmitool: {
    bmc_reset: method('POST', 'Resets the BMC; takes warm, true or false.'),
    send_raw: method('POST', 'Sends bytes to the BMC; takes raw_bytes, such as 0x00 0x01.'),
  },
  redfish: REDFISH,
  'idrac-redfish': REDFISH,
}

export const vendorMethods = (node: Readonly<NodeRecord>): Readonly<Record<string, VendorMethod>> =>
  METHODS[node.vendor_interface] ?? {}

/**
 * The method that is called, its arguments checked.
 *
 * @throws IronicError 400
 */
export function vendorMethod(
  node: Readonly<NodeRecord>,
  { method: name, http, data }: { method: string; http: string; data: JsonObject },
): VendorMethod {
  const methods = vendorMethods(node)
  const found = Object.hasOwn(methods, name) ? methods[name] : undefined
  if (!found) throw refused(`No handler for method ${name}`)
  if (!found.http_methods.includes(http)) throw refused(`The method ${name} does not support HTTP ${http}`)
  checkArguments(name, data)
  return found
}

const refused = (sentence: string): IronicError => new IronicError(400, sentence)

function checkArguments(name: string, data: JsonObject): void {
  switch (name) {
    case 'second_method':
    case 'third_method_sync':
    case 'fourth_method_shared_lock':
      if (!data.bar) throw refused(`Parameter 'bar' not passed to method '${name}'.`)
      return
    case 'send_raw':
      if (!data.raw_bytes) throw refused('Parameter raw_bytes (string of bytes) was not specified.')
      return
    case 'create_subscription':
      return checkSubscription(data)
    case 'delete_subscription':
      if (!data.id) throw refused("id can't be None")
      return
    case 'eject_vmedia':
      if (data.boot_device && !EJECTED[shown(data.boot_device)])
        throw refused(`Boot device ${shown(data.boot_device)} is not a valid value `)
  }
}

const shown = (value: unknown): string => (typeof value === 'string' ? value : pythonRepr(value))

/** Names of Redfish for what is ejected. */
export const EJECTED: Readonly<Record<string, 'cdrom' | 'floppy' | 'disk'>> = {
  cd: 'cdrom',
  dvd: 'cdrom',
  floppy: 'floppy',
  usb: 'disk',
}

/** What a simulated BMC sends events of; those of Redfish's EventService. */
const EVENT_TYPES = ['StatusChange', 'ResourceUpdated', 'ResourceAdded', 'ResourceRemoved', 'Alert']

function checkSubscription({
  Destination,
  EventTypes,
  Context = '',
  Protocol = 'Redfish',
  HttpHeaders,
}: JsonObject): void {
  const known = Array.isArray(EventTypes) && EventTypes.every((type) => EVENT_TYPES.includes(textOf(type)))
  if (EventTypes != null && !known)
    throw refused(
      `EventTypes ${pythonRepr(EventTypes)} is not a valid value, allowed values {${EVENT_TYPES.map((type) => `'${type}'`).join(', ')}}`,
    )
  if (typeof Context !== 'string') throw refused(`Context ${shown(Context)} is not a valid string`)
  if (typeof Protocol !== 'string') throw refused(`Protocol ${shown(Protocol)} is not a string`)
  if (HttpHeaders != null && !Array.isArray(HttpHeaders))
    throw refused(`HttpHeaders ${shown(HttpHeaders)} is not a list of headers`)
  const valid = typeof Destination === 'string' && /^[a-z][a-z0-9+.-]*:\/\/[^/?#\s]+\S*$/i.test(Destination)
  if (!valid) throw refused(`Destination ${shown(Destination ?? null)} is not a valid URI`)
}

/** Whether a reset of the BMC is a warm one: it is unless told otherwise, and what is no word for yes means no. */
export const isWarm = ({ warm = true }: JsonObject): boolean =>
  ['1', 't', 'true', 'on', 'y', 'yes'].includes(textOf(warm).trim().toLowerCase())
