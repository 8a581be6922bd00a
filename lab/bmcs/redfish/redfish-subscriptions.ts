import type { BmcHardware } from '../../../ironic-mock/index.js'
import { linkIn, textIn, textsIn, type RedfishJson } from './redfish-json.js'
import { missingAttribute, type RedfishSystem } from './redfish-system.js'

type WantedSubscription = Parameters<BmcHardware['subscribe']>[0]
type EventSubscription = Awaited<ReturnType<BmcHardware['subscribe']>>

async function subscriptionsPath(system: RedfishSystem): Promise<string> {
  const service = linkIn(await system.connection.root(), 'EventService')
  if (service === undefined) throw missingAttribute('EventService/@odata.id', system.connection.account.root)
  const path = linkIn((await system.get(service)).document, 'Subscriptions')
  if (path === undefined) throw missingAttribute('Subscriptions/@odata.id', service)
  return path
}

const subscriptionIn = (document: RedfishJson): EventSubscription => ({
  Id: textIn(document, 'Id') ?? '',
  Context: textIn(document, 'Context') ?? '',
  Protocol: textIn(document, 'Protocol') ?? '',
  Destination: textIn(document, 'Destination') ?? '',
  EventTypes: textsIn(document, 'EventTypes') ?? [],
})

export async function subscriptionsOf(system: RedfishSystem): Promise<readonly EventSubscription[]> {
  const all = await system.members(await subscriptionsPath(system))
  return all.map(({ document }) => subscriptionIn(document))
}

/** The answer to a creation may have no document: then what was made is read. */
export async function subscribeTo(system: RedfishSystem, wanted: WantedSubscription): Promise<EventSubscription> {
  const { connection, options } = system
  const path = await subscriptionsPath(system)
  const { headers, document } = await connection.post(path, { ...wanted }, options.signal)
  if (textIn(document, 'Id') !== undefined) return subscriptionIn(document)
  const made = headers['location'] ?? textIn(document, '@odata.id')
  return made === undefined ? { Id: '', ...wanted } : subscriptionIn((await system.get(made)).document)
}

export async function unsubscribeFrom(system: RedfishSystem, id: string): Promise<void> {
  const path = await subscriptionsPath(system)
  await system.connection.delete(`${path.replace(/\/$/, '')}/${encodeURIComponent(id)}`, system.options.signal)
}
