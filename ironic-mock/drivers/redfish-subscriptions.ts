import { IronicError, pythonRepr, formatClientValue, type JsonObject } from '../../base/wire/index.js'
import { vendorMethod, type VendorMethod } from './hardware-type.js'

const subscriptionError = (sentence: string): IronicError => new IronicError(400, sentence)
const shown = (value: unknown): string => (typeof value === 'string' ? value : pythonRepr(value))

/** Device types of Redfish's virtual media, by the names that upstream accepts. */
export const EJECTED: Readonly<Record<string, 'cdrom' | 'floppy' | 'disk'>> = {
  cd: 'cdrom',
  dvd: 'cdrom',
  floppy: 'floppy',
  usb: 'disk',
}

/** Event types of Redfish's EventService that a simulated BMC sends. */
const EVENT_TYPES = ['StatusChange', 'ResourceUpdated', 'ResourceAdded', 'ResourceRemoved', 'Alert']

function checkSubscription({
  Destination,
  EventTypes,
  Context = '',
  Protocol = 'Redfish',
  HttpHeaders,
}: JsonObject): void {
  const known = Array.isArray(EventTypes) && EventTypes.every((type) => EVENT_TYPES.includes(formatClientValue(type)))
  if (EventTypes != null && !known)
    throw subscriptionError(
      `EventTypes ${pythonRepr(EventTypes)} is not a valid value, allowed values {${EVENT_TYPES.map((type) => `'${type}'`).join(', ')}}`,
    )
  if (typeof Context !== 'string') throw subscriptionError(`Context ${shown(Context)} is not a valid string`)
  if (typeof Protocol !== 'string') throw subscriptionError(`Protocol ${shown(Protocol)} is not a string`)
  if (HttpHeaders != null && !Array.isArray(HttpHeaders))
    throw subscriptionError(`HttpHeaders ${shown(HttpHeaders)} is not a list of headers`)
  const valid = typeof Destination === 'string' && /^[a-z][a-z0-9+.-]*:\/\/[^/?#\s]+\S*$/i.test(Destination)
  if (!valid) throw subscriptionError(`Destination ${shown(Destination ?? null)} is not a valid URI`)
}

/** Methods of the vendor interface `redfish`. */
export const REDFISH_METHODS: Readonly<Record<string, VendorMethod>> = {
  create_subscription: vendorMethod('POST', 'Subscribes to events of the BMC; takes Destination.', {
    sync: true,
    check: checkSubscription,
  }),
  delete_subscription: vendorMethod('DELETE', 'Ends a subscription; takes its id.', {
    sync: true,
    check: ({ id }) => {
      if (!id) throw subscriptionError("id can't be None")
    },
  }),
  eject_vmedia: vendorMethod('POST', 'Ejects virtual media: boot_device (cd, dvd, usb or floppy), or all.', {
    check: ({ boot_device }) => {
      if (boot_device && !EJECTED[shown(boot_device)])
        throw subscriptionError(`Boot device ${shown(boot_device)} is not a valid value `)
    },
  }),
  get_all_subscriptions: vendorMethod('GET', 'Lists the subscriptions.', { sync: true }),
  get_subscription: vendorMethod('GET', 'Shows a subscription; takes its id.', { sync: true }),
}
