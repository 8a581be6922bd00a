import { defined } from '../../../base/runtime/index.js'
import { IronicError, formatClientValue, type JsonObject, type NodeRecord } from '../../../base/wire/index.js'
import type { BmcHardware, EventSubscription } from '../../drivers/bmc-hardware.js'
import { EJECTED } from '../../drivers/redfish-subscriptions.js'
import { calledVendorMethod, isWarm } from '../../drivers/vendor.js'
import type { HardwareRequest } from './hardware-request.js'
import type { VendorCall } from './hardware-calls.js'
import type { AgentSubject } from '../agents/perform-agent.js'

interface VendorAccess {
  ask: <T>(subject: AgentSubject, question: (hardware: BmcHardware) => Promise<T>) => Promise<T>
  start: (request: HardwareRequest) => Promise<void>
  unlocked: (node: Readonly<NodeRecord>) => void
}

/**
 * Calls a synchronous vendor method, or starts an asynchronous one.
 *
 * @throws IronicError 400 for a method or arguments that the interface does not know, 409 while the node is reserved
 */
export async function callVendor(
  subject: AgentSubject,
  { method, http, data }: VendorCall,
  { ask, start, unlocked }: VendorAccess,
): Promise<{ isSync: boolean; value: unknown }> {
  // Upstream answers 500 for a body that is not an object.
  if (typeof data !== 'object' || data === null || Array.isArray(data))
    throw new IronicError(400, 'The body of a vendor method must be an object.')
  const args = data as JsonObject
  const known = calledVendorMethod(subject.node, { method, http, data: args })
  if (known.require_exclusive_lock) unlocked(subject.node)
  const request = backgroundRequest(method, args)
  if (request) {
    await start(request)
    return { isSync: false, value: null }
  }
  if (known.async) return { isSync: false, value: null }
  return { isSync: true, value: await callVendorMethod(subject, method, args, ask) }
}

/** The hardware request of an asynchronous method. */
function backgroundRequest(method: string, args: JsonObject): HardwareRequest | undefined {
  switch (method) {
    case 'second_method':
    case 'log_passthrough':
      return { do: 'vendor', change: null }
    case 'bmc_reset':
      return { do: 'vendor', change: { change: 'reset bmc', warm: isWarm(args) } }
    case 'send_raw':
      return { do: 'vendor', change: { change: 'raw', bytes: formatClientValue(args.raw_bytes) } }
    case 'eject_vmedia': {
      const device = args.boot_device ? EJECTED[formatClientValue(args.boot_device)] : undefined
      return { do: 'vendor', change: { change: 'eject media', devices: device ? [device] : null } }
    }
    default:
      return undefined
  }
}

async function callVendorMethod(
  subject: AgentSubject,
  method: string,
  args: JsonObject,
  ask: VendorAccess['ask'],
): Promise<unknown> {
  const { uuid } = subject.node
  switch (method) {
    case 'third_method_sync':
      return args.bar === 'meow'
    case 'create_subscription':
      return ask(subject, (hardware) => hardware.subscribe(subscription(args)))
    case 'delete_subscription':
      await ask(subject, async (hardware) => {
        const id = formatClientValue(args.id)
        const known = await hardware.subscriptions()
        if (!known.some((each) => each.Id === id)) throw noSubscription('delete_subscription', id, uuid, 404)
        await hardware.unsubscribe(id)
      })
      return null
    case 'get_all_subscriptions':
      return ask(subject, async (hardware) => collection(await hardware.subscriptions()))
    case 'get_subscription':
      return ask(subject, async (hardware) => {
        const id = formatClientValue(args.id)
        const found = (await hardware.subscriptions()).find((each) => each.Id === id)
        if (!found) throw noSubscription('get_subscription', id, uuid, 500)
        return found
      })
    default:
      throw new Error(`the vendor method ${method} has no answer`)
  }
}

/** A Redfish event destination with Redfish's defaults. */
function subscription(args: JsonObject): Parameters<BmcHardware['subscribe']>[0] {
  const { Destination, Protocol = 'Redfish', Context = '', EventTypes, HttpHeaders } = args
  return {
    Destination: formatClientValue(Destination),
    Protocol: Protocol as string,
    Context: Context as string,
    EventTypes: (EventTypes as string[] | null | undefined) ?? ['Alert'],
    ...defined({ HttpHeaders: Array.isArray(HttpHeaders) && HttpHeaders.length > 0 ? HttpHeaders : undefined }),
  }
}

const SUBSCRIPTIONS_PATH = '/redfish/v1/EventService/Subscriptions'

/** The answer has the BMC's format: a Redfish collection of links. */
const collection = (subscriptions: readonly EventSubscription[]): JsonObject => ({
  '@odata.context': '/redfish/v1/$metadata#EventDestinationCollection.EventDestinationCollection',
  '@odata.id': SUBSCRIPTIONS_PATH,
  '@odata.type': '#EventDestinationCollection.EventDestinationCollection',
  Name: 'Event Subscriptions Collection',
  Members: subscriptions.map(({ Id }) => ({ '@odata.id': `${SUBSCRIPTIONS_PATH}/${Id}` })),
  'Members@odata.count': subscriptions.length,
})

const noSubscription = (method: string, id: string, uuid: string, status: number): IronicError =>
  new IronicError(
    status,
    `Redfish exception occurred. Error: Redfish ${method} failed for subscription ${id} on node ${uuid}. Error: HTTP GET ${SUBSCRIPTIONS_PATH}/${id} returned code 404.`,
  )
