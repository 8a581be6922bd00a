import type { BmcLogPoint, RedfishSubscription, LogEntry, Machine } from '../../../machine/index.js'
import {
  defined,
  errorChain,
  onAbort,
  seconds,
  randomUuid,
  type Clock,
  type Logger,
  type Probe,
  type Random,
} from '../../../base/runtime/index.js'
import type { Transport } from '../../../base/wire/index.js'
import { spokenDialectOf } from '../dialects/spoken-dialect.js'
import { odataTypeOf, redfishPath, type RedfishDocument, type Reference } from '../protocol/redfish-document.js'
import { eventMessage } from './event-messages.js'
import type { ServedMachines } from '../served-machines.js'

/** Attempts to deliver an event, and the time between two of them. */
export const DELIVERY = { attempts: 3, interval: 5 } as const

/** Events that wait for one destination; further ones are lost, as BMCs lose them. */
const MAX_WAITING_EVENTS = 1000
/** Events that wait for one client of the stream. */
const MAX_BUFFERED_EVENTS = 100

export const EVENT_TYPES = ['StatusChange', 'ResourceUpdated', 'Alert'] as const

export type EventType = (typeof EVENT_TYPES)[number]

/** True if a subscription is of several machines, all of which have it by this id; that of a single machine has a number there. */
export const isShared = (id: string): boolean => !/^\d+$/.test(id)

interface EventHubParts {
  machines: ServedMachines
  transport: Transport
  clock: Clock
  random: Random
  logger: Logger
  closing: AbortSignal
}

interface HubListener {
  wants: (machine: Machine) => boolean
  take: (event: RedfishDocument) => void
}

function typeOfEntry({ kind }: LogEntry): EventType {
  switch (kind) {
    case 'power on':
    case 'power off':
    case 'reset':
    case 'boot':
    case 'bmc reset':
      return 'StatusChange'
    case 'boot failed':
    case 'nmi':
      return 'Alert'
    default:
      return 'ResourceUpdated'
  }
}

/** The system of a machine, by the id that its BMC has for it. */
const originOf = (machine: Machine, machines: ServedMachines): Reference => ({
  '@odata.id': spokenDialectOf(machines, machine).path(redfishPath('Systems', machine.spec.id)),
})

/** Sends what BMCs log to those who have subscribed, by POST or on the stream. */
export class EventHub {
  readonly #parts: EventHubParts
  readonly #listeners = new Set<HubListener>()
  /** How many events wait for each destination. */
  readonly #waiting = new Map<string, number>()

  constructor(parts: EventHubParts) {
    this.#parts = parts
  }

  /** Subscribes to the machines' log entries. */
  attach(probe: Probe): Disposable {
    return probe.attach<BmcLogPoint>(
      (point, next) => {
        const machine = this.#parts.machines.get(point.machine)
        if (machine) this.#logged(machine, point.entry)
        return next()
      },
      ['bmc log'],
    )
  }

  #logged(machine: Machine, entry: LogEntry): void {
    const type = typeOfEntry(entry)
    const subscriptions = machine.firmware.subscriptions().filter(({ EventTypes }) => isWanted(type, EventTypes))
    if (subscriptions.length === 0 && this.#listeners.size === 0) return
    this.#publish(machine, subscriptions, { ...eventMessage(entry), EventType: type }, entry.at)
  }

  /** Sends an event of a machine's own making to its subscriptions. */
  test(machine: Machine, type: EventType, record: RedfishDocument): void {
    const subscriptions = machine.firmware.subscriptions().filter(({ EventTypes }) => isWanted(type, EventTypes))
    this.#publish(machine, subscriptions, { ...record, EventType: type }, this.#parts.clock.now())
  }

  #publish(machine: Machine, subscriptions: readonly RedfishSubscription[], record: RedfishDocument, at: number): void {
    const id = randomUuid(this.#parts.random)
    const event = (Context?: string): RedfishDocument => ({
      '@odata.type': odataTypeOf('Event'),
      Id: id,
      Name: 'Event',
      ...defined({ Context }),
      Events: [
        {
          MemberId: '0',
          EventId: id,
          EventTimestamp: new Date(at).toISOString(),
          ...record,
          OriginOfCondition: originOf(machine, this.#parts.machines),
        },
      ],
    })
    for (const subscription of subscriptions) this.#send(machine, subscription, event(subscription.Context))
    for (const { wants, take } of this.#listeners) if (wants(machine)) take(event())
  }

  #send(machine: Machine, subscription: RedfishSubscription, event: RedfishDocument): void {
    const { Destination: url } = subscription
    const waiting = this.#waiting.get(url) ?? 0
    if (waiting >= MAX_WAITING_EVENTS) return this.#parts.logger('warn', `an event for ${url} is lost`)
    this.#waiting.set(url, waiting + 1)
    void this.#deliver(machine, subscription, JSON.stringify(event)).finally(() => {
      const left = this.#waiting.get(url)! - 1
      if (left === 0) this.#waiting.delete(url)
      else this.#waiting.set(url, left)
    })
  }

  async #deliver(machine: Machine, subscription: RedfishSubscription, body: string): Promise<void> {
    const { Destination: url, HttpHeaders } = subscription
    const { transport, clock, logger, closing: signal } = this.#parts
    const headers = { 'content-type': 'application/json', 'odata-version': '4.0', ...HttpHeaders }
    for (let attempt = 1; attempt <= DELIVERY.attempts && !signal.aborted; attempt++)
      try {
        const { status } = await transport.send({ method: 'POST', url, headers, body, signal })
        if (status < 300) return
        throw new Error(`the answer was ${status}`)
      } catch (error) {
        if (signal.aborted) return
        if (attempt === DELIVERY.attempts) {
          logger(
            'warn',
            `an event was not delivered to ${url}, so its subscription ends: ${errorChain(error).join(': ')}`,
          )
          await this.#end(machine, subscription)
        } else await clock.sleep(seconds(DELIVERY.interval), { signal, weak: true }).catch(() => {})
      }
  }

  /** Ends a subscription whose event was not delivered (`TerminateAfterRetries`). Several events may find its receiver dead. */
  async #end(machine: Machine, { Id }: RedfishSubscription): Promise<void> {
    const machines = isShared(Id) ? this.#parts.machines.list() : [machine]
    for (const { firmware } of machines)
      if (firmware.subscriptions().some((one) => one.Id === Id)) await firmware.unsubscribe(Id)
  }

  /** The events of machines from now on, as server-sent events. */
  async *stream(wants: HubListener['wants'], signal: AbortSignal): AsyncIterable<string> {
    const waiting: RedfishDocument[] = []
    let wake = (): void => {}
    const listener: HubListener = {
      wants,
      take: (event) => {
        if (waiting.length < MAX_BUFFERED_EVENTS) waiting.push(event)
        wake()
      },
    }
    const { closing } = this.#parts
    this.#listeners.add(listener)
    using _ended = onAbort(signal, () => wake())
    using _closed = onAbort(closing, () => wake())
    try {
      yield ': connected\n\n'
      while (!signal.aborted && !closing.aborted) {
        const event = waiting.shift()
        if (event) yield `id: ${String(event['Id'])}\ndata: ${JSON.stringify(event)}\n\n`
        else await new Promise<void>((resolve) => (wake = resolve))
      }
    } finally {
      this.#listeners.delete(listener)
    }
  }
}

const isWanted = (type: EventType, wanted: readonly string[]): boolean => wanted.length === 0 || wanted.includes(type)
