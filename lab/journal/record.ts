import { errorChain, type Clock, type Probe } from '../../base/runtime/index.js'
import type { CommandEnd } from '../../machine/index.js'
import {
  fileOf,
  VERSION_HEADER,
  type ExchangePoint,
  type NodeRecord,
  type WireResponse,
} from '../../base/wire/index.js'
import type { Events } from '../lab-events.js'
import type { FaultReport } from '../faults/fault.js'
import { machineIn, nodeIn } from '../faults/fault-points.js'
import { maskedText } from '../masking.js'
import { attachTo, type LabPoint, type PointOf } from '../points.js'
import type { EntryHead, FaultEntry, NearMiss } from './entry.js'
import type { Journal } from './journal.js'
import { MAX_MASKED_CHARACTERS, maskedFileTarget, maskedMessage, maskedTarget } from './mask-message.js'
import { nearMiss } from './near-miss.js'
import { StepWatch, type SeenStep } from './record-steps.js'

interface Recorded {
  /** Whether anything is written. */
  isOn: boolean
  probe: Probe
  events: Events
  clock: Clock
  /** Finds a node by uuid or name. */
  node: (ident: string) => Readonly<NodeRecord> | undefined
  /** The node that a machine belongs to. */
  nodeOf: (machine: string) => Readonly<NodeRecord> | undefined
  machineOf: (node: Readonly<NodeRecord>) => string | undefined
  /** Names of all nodes, or their uuids. */
  names: () => string[]
  /** The fault that struck at a point. */
  faultAt: (point: LabPoint) => string | null
}

/** Writes entries into a journal that come from no probe point. */
export interface JournalRecorder {
  struck(fault: FaultReport, point: LabPoint): void
  fault(what: 'added' | 'lifted', fault: FaultReport): void
  lab(what: string): void
  /** The states in which nodes were seen last. */
  take(): SeenStates
  restore(seen: SeenStates): void
}

interface SeenStates {
  readonly states: ReadonlyMap<string, NodeRecord['provision_state']>
  readonly power: ReadonlyMap<string, string | null>
  readonly steps: ReadonlyMap<string, SeenStep>
}

const RECORDED_POINTS = ['exchange', 'command', 'power', 'boot', 'bmc', 'pull', 'image-pull', 'hardware'] as const

type EntrySubject = Pick<EntryHead, 'node' | 'name' | 'machine'>

/** Writes into a journal what passes a lab's probe, and the states of its nodes. */
export function recordInto(journal: Journal, parts: Recorded): JournalRecorder {
  const { probe, events, clock, node, nodeOf, machineOf, names, faultAt } = parts
  const states = new Map<string, NodeRecord['provision_state']>()
  const power = new Map<string, string | null>()
  const steps = new StepWatch(
    (uuid, step) => journal.add({ kind: 'step', ...subject(node(uuid), undefined), fault: null, ...step }),
    () => clock.now(),
  )

  const subject = (record: Readonly<NodeRecord> | undefined, machine: string | undefined): EntrySubject => ({
    node: record?.uuid ?? null,
    name: record?.name ?? null,
    machine: machine ?? (record && machineOf(record)) ?? null,
  })
  const ofPoint = (point: LabPoint): EntrySubject => {
    const machine = machineIn(point)
    return subject(machine === undefined ? undefined : nodeOf(machine), machine)
  }

  /** The node and machine that a point concerns. */
  const concerned = (point: LabPoint): EntrySubject => {
    if (point.kind === 'bmc' && point.node !== undefined) return subject(node(point.node), undefined)
    const named = nodeIn(point)
    const record = named === undefined ? undefined : node(named)
    return record ? subject(record, machineIn(point)) : ofPoint(point)
  }

  const note = (
    point: PointOf<(typeof RECORDED_POINTS)[number]>,
    { began, before }: { began: number; before: EntrySubject },
    result: unknown,
    failure: string | null,
  ): void => {
    const fault = faultAt(point)
    const duration = clock.now() - began
    // A node may be gone by now, and a machine made only now.
    const at = before.node !== null && before.machine !== null ? before : completed(before, concerned(point))
    switch (point.kind) {
      case 'exchange':
        return noteExchange(point, at, duration, result as WireResponse | undefined, failure, fault)
      case 'command': {
        const { argv } = point
        const exitCode = (result as CommandEnd | undefined)?.exitCode ?? null
        const { node, name, machine } = at
        return journal.add({
          kind: 'command',
          node,
          name,
          machine,
          fault,
          argv,
          exitCode,
          error: failure,
          duration,
        })
      }
      case 'bmc': {
        return journal.add({
          kind: 'bmc',
          ...at,
          fault,
          call: point.call,
          ...redfishCall(point, result as WireResponse | undefined),
          error: failure,
          duration,
        })
      }
      case 'power':
      case 'boot': {
        const what = point.kind === 'boot' ? point.outcome : powerOf(point)
        const why = point.kind === 'boot' && point.why !== undefined ? maskedText(point.why) : null
        return journal.add({ kind: point.kind, ...at, fault, what, error: failure ?? why })
      }
      case 'hardware':
        return journal.add({ kind: 'lab', ...at, fault: null, what: point.what })
      case 'pull':
      case 'image-pull':
        return journal.add({ kind: 'pull', ...at, fault, what: point.image, error: failure })
    }
  }

  function noteExchange(
    point: ExchangePoint,
    at: EntrySubject,
    duration: number,
    answer: WireResponse | undefined,
    error: string | null,
    fault: string | null,
  ): void {
    const { from, to, method, request } = point
    const asked = measureBody(request.body)
    // A body that is made when it is read is a long list; it would be made twice.
    const isLarge = answer !== undefined && Object.getOwnPropertyDescriptor(answer, 'body')?.get !== undefined
    const answered = isLarge ? { body: undefined, size: 0 } : measureBody(answer?.body)
    if (answer && fileOf(answer) && method !== 'HEAD') answered.size = Number(answer.headers['content-length'] ?? 0)
    const version = headerOf(request.headers, VERSION_HEADER)
    const target = point.target
    const status = answer?.status ?? null
    const nearest = status === null ? null : nearMiss({ to, method, target, status, version }, names)
    const requestId = answer?.headers['openstack-request-id'] ?? null
    const shown = to === 'images' ? maskedFileTarget(target) : maskedTarget(target)
    journal.add(
      {
        kind: 'exchange',
        node: at.node,
        name: at.name,
        machine: at.machine,
        fault,
        from,
        to,
        method,
        target: shown,
        status,
        error,
        requestId,
        duration,
      },
      (asked.body?.length ?? 0) + (answered.body?.length ?? 0),
      messagesOf({ headers: request.headers, ...asked }, answer && { headers: answer.headers, ...answered }, nearest),
    )
  }

  const noteState = (changed: Readonly<NodeRecord>): void => {
    const { uuid, provision_state: state, target_provision_state: target, power_state, last_error } = changed
    const was = states.get(uuid) ?? null
    if (was === state && power.get(uuid) === power_state) return
    states.set(uuid, state)
    power.set(uuid, power_state)
    const { node, name, machine } = subject(changed, undefined)
    journal.add({
      kind: 'state',
      node,
      name,
      machine,
      fault: null,
      state,
      was,
      target,
      power: power_state,
      lastError: last_error,
    })
  }

  if (parts.isOn)
    attachTo(
      probe,
      async (point, next) => {
        // Both sides of an exchange in one lab pass here; the side that a fault of the other can cut off is the caller's.
        const start = { began: clock.now(), before: concerned(point) }
        try {
          const result = await next()
          note(point, start, result, null)
          return result
        } catch (error) {
          note(point, start, undefined, errorChain(error).join(': '))
          throw error
        }
      },
      RECORDED_POINTS,
    )
  if (parts.isOn)
    events.listen((event) => {
      if (event.kind === 'node-gone') {
        const was = states.get(event.uuid) ?? null
        states.delete(event.uuid)
        power.delete(event.uuid)
        steps.gone(event.uuid)
        const at = { node: event.uuid, name: null, machine: null }
        return journal.add({
          kind: 'state',
          ...at,
          fault: null,
          state: 'deleted',
          was,
          target: null,
          power: null,
          lastError: null,
        })
      }
      if (event.kind === 'progress') {
        const record = nodeOf(event.machine)
        if (record) steps.progress(record.uuid, event)
      }
      if (event.kind !== 'node') return
      steps.before(event.node)
      noteState(event.node)
      steps.after(event.node)
    }, 'always')
  const noteFault = (what: FaultEntry['what'], { id, effect }: FaultReport, at: EntrySubject): void =>
    journal.add({ kind: 'fault', ...at, fault: id, what, effect: effect.kind })
  return {
    struck: (fault, point) => noteFault('struck', fault, concerned(point)),
    fault: (what, fault) => noteFault(what, fault, subject(node(fault.match.node ?? ''), fault.match.machine)),
    take: () => ({ states: new Map(states), power: new Map(power), steps: steps.take() }),
    restore: (seen) => {
      states.clear()
      for (const [uuid, state] of seen.states) states.set(uuid, state)
      power.clear()
      for (const [uuid, was] of seen.power) power.set(uuid, was)
      steps.restore(seen.steps)
    },
    lab: (what) => journal.add({ kind: 'lab', ...NO_SUBJECT, fault: null, what }),
  }
}

const completed = (before: EntrySubject, after: EntrySubject): EntrySubject => ({
  node: before.node ?? after.node,
  name: before.node === null ? after.name : before.name,
  machine: before.machine ?? after.machine,
})

/** A change of power and the request for it pass the probe one by one: a machine that is on already does not change. */
const powerOf = (point: PointOf<'power'>): string => ('target' in point ? `request: ${point.target}` : point.power)

/** The request of a call over Redfish, for the journal. */
function redfishCall(point: PointOf<'bmc'>, answer: WireResponse | undefined) {
  if (point.method === undefined) return { method: null, target: null, status: null }
  const { method, target } = point
  return { method, target: maskedTarget(target), status: answer?.status ?? null }
}

const NO_SUBJECT: EntrySubject = { node: null, name: null, machine: null }

interface NotedMessage {
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | undefined
  readonly size: number
}

/** A function of its own, so that the journal keeps nothing but these of an exchange. */
const messagesOf = (request: NotedMessage, response: NotedMessage | undefined, nearest: NearMiss | null) => () => ({
  request: maskedMessage(request.headers, request.body, request.size),
  response: response ? maskedMessage(response.headers, response.body, response.size) : null,
  nearMiss: nearest,
})

const headerOf = (headers: Readonly<Record<string, string>>, wanted: string): string | undefined =>
  headers[wanted] ?? Object.entries(headers).find(([name]) => name.toLowerCase() === wanted)?.[1]

function measureBody(body: string | undefined): { body: string | undefined; size: number } {
  if (body === undefined) return { body, size: 0 }
  const size = Buffer.byteLength(body)
  return { body: body.length > MAX_MASKED_CHARACTERS ? undefined : body, size }
}
