import { validateHeaderName, validateHeaderValue } from 'node:http'
import { defined, isObject, uuid } from '../../runtime/index.js'
import type { EventSubscription, Machine } from '../../machine/index.js'
import { answerOfStream } from '../../wire/index.js'
import { HEADERS } from '../protocol/answers.js'
import { DELIVERY, EVENT_TYPES, isShared, type EventType } from '../events/event-hub.js'
import {
  anything,
  checkAction,
  checkCreation,
  checkPatch,
  listOf,
  nullable,
  object,
  oneOf,
  text,
} from '../protocol/checks.js'
import { collection, head, link, pathOf, status, type Document } from '../protocol/document.js'
import { message } from '../protocol/messages.js'
import { refused, Refusal } from '../protocol/refusal.js'
import { ofService, type Call, type Outcome, type Resource } from '../protocol/resource.js'

const ROOT = ['EventService']
const SUBSCRIPTIONS = [...ROOT, 'Subscriptions']
const STREAM = [...ROOT, 'SSE']
/** Most subscriptions of one machine. */
const MOST = 20

const visible = ({ service, caller }: Call): Machine[] => (caller ? service.visible(caller) : [])

/** The number of a machine's own subscription becomes unique by the machine's name. */
const idOf = (machine: Machine, { Id }: EventSubscription): string => (isShared(Id) ? Id : `${machine.spec.id}-${Id}`)

/** The subscriptions of the caller's machines by their ids. */
function subscriptionsOf(call: Call): Map<string, { subscription: EventSubscription; machines: Machine[] }> {
  const found = new Map<string, { subscription: EventSubscription; machines: Machine[] }>()
  for (const machine of visible(call))
    for (const subscription of machine.firmware.subscriptions()) {
      const id = idOf(machine, subscription)
      const known = found.get(id)
      if (known) known.machines.push(machine)
      else found.set(id, { subscription, machines: [machine] })
    }
  return found
}

function documentOf(call: Call, id: string): Document | undefined {
  const found = subscriptionsOf(call).get(id)
  if (!found) return undefined
  const { Destination, Context, Protocol, EventTypes } = found.subscription
  return {
    ...head('EventDestination', [...SUBSCRIPTIONS, id], `Subscription ${id}`),
    Destination,
    Context,
    Protocol,
    EventTypes,
    SubscriptionType: 'RedfishEvent',
    EventFormatType: 'Event',
    DeliveryRetryPolicy: 'TerminateAfterRetries',
    HttpHeaders: [],
    Status: status(),
  }
}

const EVENT_TYPE = oneOf(['StatusChange', 'ResourceUpdated', 'ResourceAdded', 'ResourceRemoved', 'Alert'])

async function subscribe(call: Call): Promise<Outcome> {
  const { body, service } = call
  checkCreation(
    body,
    {
      Destination: text({ most: 2048, form: /^https?:\/\/[^\s/]/i, says: 'an HTTP or HTTPS URL' }),
      Context: nullable(text()),
      Protocol: oneOf(['Redfish']),
      EventTypes: listOf(EVENT_TYPE),
      OriginResources: listOf(object({ '@odata.id': text() })),
      HttpHeaders: anything,
      SubscriptionType: oneOf(['RedfishEvent']),
      EventFormatType: oneOf(['Event']),
      DeliveryRetryPolicy: oneOf(['TerminateAfterRetries']),
    },
    ['Destination', 'Protocol'],
  )
  const machines = originsOf(call)
  if (machines.some((machine) => machine.firmware.subscriptions().length >= MOST))
    throw refused(503, 'EventSubscriptionLimitExceeded', [], {
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
  const shared = machines.length === 1 ? undefined : uuid(service.random)
  for (const machine of machines) await machine.firmware.subscribe(wanted, shared)
  const id = shared ?? idOf(first!, first!.firmware.subscriptions().at(-1)!)
  return { status: 201, headers: { location: pathOf(...SUBSCRIPTIONS, id) }, document: documentOf(call, id)! }
}

/** The machines that a subscription is about, each once: those of `OriginResources`, or all of the caller's if it is absent or empty. */
function originsOf(call: Call): Machine[] {
  const own = visible(call)
  const named = call.body['OriginResources'] as Record<string, string>[] | undefined
  if (!named || named.length === 0) return own
  const machines = named.map(({ '@odata.id': path }) => {
    const found = own.find(({ spec }) =>
      ['Systems', 'Managers', 'Chassis'].some(
        (kind) => path === pathOf(kind, spec.id) || path?.startsWith(`${pathOf(kind, spec.id)}/`),
      ),
    )
    if (found) return found
    throw new Refusal(400, [
      message('PropertyValueNotInList', [String(path), 'OriginResources'], {
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
    throw refused(400, 'PropertyValueTypeError', ['******', 'HttpHeaders'], about)
  const headers = Object.assign({}, ...list) as Record<string, string>
  for (const [name, text] of Object.entries(headers)) checkHeader(name, text)
  return headers
}

function checkHeader(name: string, text: string): void {
  try {
    validateHeaderName(name)
    validateHeaderValue(name, text)
  } catch {
    throw refused(400, 'PropertyValueFormatError', ['******', 'HttpHeaders'], {
      property: 'HttpHeaders',
      resolution: `${JSON.stringify(name)} cannot be a header, or cannot have this value.`,
    })
  }
}

async function unsubscribe(call: Call): Promise<void> {
  const id = call.params['subscription']!
  const found = subscriptionsOf(call).get(id)
  if (!found) throw refused(404, 'ResourceNotFound', ['EventDestination', id])
  for (const { firmware } of found.machines) await firmware.unsubscribe(found.subscription.Id)
}

async function changeContext(call: Call): Promise<void> {
  const id = call.params['subscription']!
  const found = subscriptionsOf(call).get(id)
  if (!found) throw refused(404, 'ResourceNotFound', ['EventDestination', id])
  checkPatch(call.body, { Context: nullable(text()) }, documentOf(call, id))
  const changed = { ...found.subscription, Context: String(call.body['Context'] ?? '') }
  for (const { firmware } of found.machines) await firmware.changeSubscription(changed)
}

function submitTest(call: Call): void {
  const { body } = call
  checkAction('EventService.SubmitTestEvent', body, {
    EventType: EVENT_TYPE,
    EventId: text(),
    EventTimestamp: text(),
    Message: text(),
    MessageId: text(),
    MessageArgs: listOf(text()),
    Severity: text(),
    MessageSeverity: text(),
    OriginOfCondition: text(),
    EventGroupId: anything,
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
export const EVENT_RESOURCES: readonly Resource[] = [
  ofService('/EventService', {
    reads: 'read subscriptions',
    get: () => ({
      ...head('EventService', ROOT, 'Event Service'),
      ServiceEnabled: true,
      Status: status(),
      DeliveryRetryAttempts: DELIVERY.attempts,
      DeliveryRetryIntervalSeconds: DELIVERY.interval,
      EventTypesForSubscription: EVENT_TYPES,
      EventFormatTypes: ['Event'],
      RegistryPrefixes: ['MachineEvent'],
      ServerSentEventUri: pathOf(...STREAM),
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
      Subscriptions: link(...SUBSCRIPTIONS),
      Actions: {
        '#EventService.SubmitTestEvent': { target: pathOf(...ROOT, 'Actions', 'EventService.SubmitTestEvent') },
      },
    }),
  }),
  ofService('/EventService/Actions/EventService.SubmitTestEvent', { reads: 'send event', post: submitTest }),
  ofService('/EventService/SSE', {
    reads: 'read subscriptions',
    raw: ({ service, caller }) =>
      answerOfStream(200, { ...HEADERS, 'content-type': 'text/event-stream' }, (signal) =>
        service.events.stream((machine) => caller !== undefined && service.sees(machine, caller), signal),
      ),
  }),
  ofService('/EventService/Subscriptions', {
    reads: 'read subscriptions',
    changes: 'subscribe',
    get: (call) =>
      collection(
        'EventDestinationCollection',
        SUBSCRIPTIONS,
        'Subscriptions',
        [...subscriptionsOf(call).keys()].map((id) => link(...SUBSCRIPTIONS, id)),
      ),
    post: subscribe,
  }),
  ofService('/EventService/Subscriptions/{subscription}', {
    reads: 'read subscriptions',
    changes: 'unsubscribe',
    get: (call) => documentOf(call, call.params['subscription']!),
    patch: changeContext,
    delete: unsubscribe,
  }),
]
