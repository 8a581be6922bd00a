import { validateHeaderName, validateHeaderValue } from 'node:http'
import { defined, isObject, randomUuid } from '../../../base/runtime/index.js'
import type { RedfishSubscription, Machine } from '../../../machine/index.js'
import { answerOfStream } from '../../../base/wire/index.js'
import { ANSWER_HEADERS } from '../protocol/redfish-answers.js'
import { DELIVERY, EVENT_TYPES, isShared, type EventType } from '../events/event-hub.js'
import {
  anythingCheck,
  checkAction,
  checkCreation,
  checkPatch,
  listCheck,
  nullableCheck,
  objectCheck,
  choiceCheck,
  textCheck,
  type PropertyCheck,
} from '../protocol/value-checks.js'
import {
  makeCollection,
  resourceHead,
  referenceTo,
  redfishPath,
  enabledStatus,
  type RedfishDocument,
} from '../protocol/redfish-document.js'
import { baseMessage } from '../protocol/redfish-messages.js'
import { messageRefusal, Refusal } from '../protocol/redfish-refusal.js'
import { ofService, type RedfishCall, type RedfishOutcome, type RedfishResource } from '../protocol/resource.js'

const EVENT_ROOT = ['EventService']
const SUBSCRIPTIONS = [...EVENT_ROOT, 'Subscriptions']
const EVENT_STREAM_PATH = [...EVENT_ROOT, 'SSE']
/** Most subscriptions of one machine. */
const MAX_EVENT_SUBSCRIPTIONS = 20

const visible = ({ service, caller }: RedfishCall): Machine[] => (caller ? service.visible(caller) : [])

/** The number of a machine's own subscription becomes unique by the machine's name. */
const idOf = (machine: Machine, { Id }: RedfishSubscription): string => (isShared(Id) ? Id : `${machine.spec.id}-${Id}`)

/** The subscriptions of the caller's machines by their ids. */
function subscriptionsOf(call: RedfishCall): Map<string, { subscription: RedfishSubscription; machines: Machine[] }> {
  const found = new Map<string, { subscription: RedfishSubscription; machines: Machine[] }>()
  for (const machine of visible(call))
    for (const subscription of machine.firmware.subscriptions()) {
      const id = idOf(machine, subscription)
      const known = found.get(id)
      if (known) known.machines.push(machine)
      else found.set(id, { subscription, machines: [machine] })
    }
  return found
}

function subscriptionDocument(call: RedfishCall, id: string): RedfishDocument | undefined {
  const found = subscriptionsOf(call).get(id)
  if (!found) return undefined
  const { Destination, Context, Protocol, EventTypes } = found.subscription
  return {
    ...resourceHead('EventDestination', [...SUBSCRIPTIONS, id], `Subscription ${id}`),
    Destination,
    Context,
    Protocol,
    EventTypes,
    SubscriptionType: 'RedfishEvent',
    EventFormatType: 'Event',
    DeliveryRetryPolicy: 'TerminateAfterRetries',
    HttpHeaders: [],
    Status: enabledStatus(),
  }
}

const REDFISH_EVENT_TYPES = choiceCheck([
  'StatusChange',
  'ResourceUpdated',
  'ResourceAdded',
  'ResourceRemoved',
  'Alert',
])

async function subscribe(call: RedfishCall): Promise<RedfishOutcome> {
  const { body, service, spoken } = call
  const { refused, required, emptyContext } = spoken.dialect.events
  const fields: Readonly<Record<string, PropertyCheck>> = {
    Destination: textCheck({ most: 2048, form: /^https?:\/\/[^\s/]/i, says: 'an HTTP or HTTPS URL' }),
    Context: nullableCheck(textCheck({ least: emptyContext === 'refused' ? 1 : 0 })),
    Protocol: choiceCheck(['Redfish']),
    EventTypes: listCheck(REDFISH_EVENT_TYPES),
    OriginResources: listCheck(objectCheck({ '@odata.id': textCheck() })),
    HttpHeaders: anythingCheck,
    SubscriptionType: choiceCheck(['RedfishEvent']),
    EventFormatType: choiceCheck(['Event']),
    DeliveryRetryPolicy: choiceCheck(['TerminateAfterRetries']),
  }
  const known = Object.fromEntries(Object.entries(fields).filter(([name]) => !refused.includes(name)))
  checkCreation(body, known, ['Destination', 'Protocol', ...required])
  const machines = originsOf(call)
  if (machines.some((machine) => machine.firmware.subscriptions().length >= MAX_EVENT_SUBSCRIPTIONS))
    throw messageRefusal(503, 'EventSubscriptionLimitExceeded', [], {
      resolution: 'Delete a subscription.',
      headers: { 'retry-after': '30' },
    })
  const wanted = {
    Destination: String(body['Destination']),
    Context: String(body['Context'] ?? ''),
    Protocol: String(body['Protocol']),
    EventTypes: (body['EventTypes'] as string[] | undefined) ?? [],
    ...defined({ HttpHeaders: body['HttpHeaders'] === undefined ? undefined : headersIn(body['HttpHeaders']) }),
  }
  const [first] = machines
  const shared = machines.length === 1 ? undefined : randomUuid(service.random)
  for (const machine of machines) await machine.firmware.subscribe(wanted, shared)
  const id = shared ?? idOf(first!, first!.firmware.subscriptions().at(-1)!)
  return {
    status: 201,
    headers: { location: redfishPath(...SUBSCRIPTIONS, id) },
    document: subscriptionDocument(call, id)!,
  }
}

/** The machines that a subscription is about, each once: those of `OriginResources`, or all of the caller's if it is absent or empty. */
function originsOf(call: RedfishCall): Machine[] {
  const own = visible(call)
  const named = call.body['OriginResources'] as Record<string, string>[] | undefined
  if (!named || named.length === 0) return own
  const machines = named.map(({ '@odata.id': path }) => {
    const found = own.find(({ spec }) =>
      ['Systems', 'Managers', 'Chassis'].some(
        (kind) => path === redfishPath(kind, spec.id) || path?.startsWith(`${redfishPath(kind, spec.id)}/`),
      ),
    )
    if (found) return found
    throw new Refusal(400, [
      baseMessage('PropertyValueNotInList', [String(path), 'OriginResources'], {
        property: 'OriginResources',
        resolution: 'Name systems, managers or chassis.',
      }),
    ])
  })
  return [...new Set(machines)]
}

/**
 * Headers as the schema has them, an array of objects.
 *
 * @throws Refusal 400 also for headers that no request can have
 */
function headersIn(value: unknown): Record<string, string> {
  const list = Array.isArray(value) ? value : [value]
  const about = { property: 'HttpHeaders', resolution: 'Use an array of objects with texts.' }
  if (!list.every((each) => isObject(each) && Object.values(each).every((text) => typeof text === 'string')))
    throw messageRefusal(400, 'PropertyValueTypeError', ['******', 'HttpHeaders'], about)
  const headers = Object.assign({}, ...list) as Record<string, string>
  for (const [name, text] of Object.entries(headers)) checkHeader(name, text)
  return headers
}

function checkHeader(name: string, text: string): void {
  try {
    validateHeaderName(name)
    validateHeaderValue(name, text)
  } catch {
    throw messageRefusal(400, 'PropertyValueFormatError', ['******', 'HttpHeaders'], {
      property: 'HttpHeaders',
      resolution: `${JSON.stringify(name)} cannot be a header, or cannot have this value.`,
    })
  }
}

async function unsubscribe(call: RedfishCall): Promise<void> {
  const id = call.params['subscription']!
  const found = subscriptionsOf(call).get(id)
  if (!found) throw messageRefusal(404, 'ResourceNotFound', ['EventDestination', id])
  for (const { firmware } of found.machines) await firmware.unsubscribe(found.subscription.Id)
}

async function changeContext(call: RedfishCall): Promise<void> {
  const id = call.params['subscription']!
  const found = subscriptionsOf(call).get(id)
  if (!found) throw messageRefusal(404, 'ResourceNotFound', ['EventDestination', id])
  checkPatch(call.body, { Context: nullableCheck(textCheck()) }, subscriptionDocument(call, id))
  const changed = { ...found.subscription, Context: String(call.body['Context'] ?? '') }
  for (const { firmware } of found.machines) await firmware.changeSubscription(changed)
}

function submitTest(call: RedfishCall): void {
  const { body } = call
  checkAction('EventService.SubmitTestEvent', body, {
    EventType: REDFISH_EVENT_TYPES,
    EventId: textCheck(),
    EventTimestamp: textCheck(),
    Message: textCheck(),
    MessageId: textCheck(),
    MessageArgs: listCheck(textCheck()),
    Severity: textCheck(),
    MessageSeverity: textCheck(),
    OriginOfCondition: textCheck(),
    EventGroupId: anythingCheck,
  })
  const type = (body['EventType'] ?? 'Alert') as EventType
  const record = {
    MessageId: String(body['MessageId'] ?? 'Base.1.22.Success'),
    Message: String(body['Message'] ?? 'This is a test.'),
    MessageArgs: body['MessageArgs'] ?? [],
    Severity: 'OK',
    MessageSeverity: 'OK',
  }
  for (const machine of visible(call)) call.service.events.test(machine, type, record)
}

/** Events, and those who have subscribed to them. */
export const EVENT_RESOURCES: readonly RedfishResource[] = [
  ofService('/EventService', {
    reads: 'read subscriptions',
    get: () => ({
      ...resourceHead('EventService', EVENT_ROOT, 'Event Service'),
      ServiceEnabled: true,
      Status: enabledStatus(),
      DeliveryRetryAttempts: DELIVERY.attempts,
      DeliveryRetryIntervalSeconds: DELIVERY.interval,
      EventTypesForSubscription: EVENT_TYPES,
      EventFormatTypes: ['Event'],
      RegistryPrefixes: ['MachineEvent'],
      ServerSentEventUri: redfishPath(...EVENT_STREAM_PATH),
      SSEFilterPropertiesSupported: {
        EventFormatType: false,
        EventType: false,
        MessageId: false,
        MetricReportDefinition: false,
        OriginResource: false,
        RegistryPrefix: false,
        ResourceType: false,
        SubordinateResources: false,
      },
      Subscriptions: referenceTo(...SUBSCRIPTIONS),
      Actions: {
        '#EventService.SubmitTestEvent': {
          target: redfishPath(...EVENT_ROOT, 'Actions', 'EventService.SubmitTestEvent'),
        },
      },
    }),
  }),
  ofService('/EventService/Actions/EventService.SubmitTestEvent', { reads: 'send event', post: submitTest }),
  ofService('/EventService/SSE', {
    reads: 'read subscriptions',
    raw: ({ service, caller }) =>
      answerOfStream(200, { ...ANSWER_HEADERS, 'content-type': 'text/event-stream' }, (signal) =>
        service.events.stream((machine) => caller !== undefined && service.sees(machine, caller), signal),
      ),
  }),
  ofService('/EventService/Subscriptions', {
    reads: 'read subscriptions',
    changes: 'subscribe',
    get: (call) =>
      makeCollection(
        'EventDestinationCollection',
        SUBSCRIPTIONS,
        'Subscriptions',
        [...subscriptionsOf(call).keys()].map((id) => referenceTo(...SUBSCRIPTIONS, id)),
      ),
    post: subscribe,
  }),
  ofService('/EventService/Subscriptions/{subscription}', {
    reads: 'read subscriptions',
    changes: 'unsubscribe',
    get: (call) => subscriptionDocument(call, call.params['subscription']!),
    patch: changeContext,
    delete: unsubscribe,
  }),
]
