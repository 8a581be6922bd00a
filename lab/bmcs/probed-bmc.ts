import { defined, seconds, type Probe } from '../../base/runtime/index.js'
import {
  redfishRequestOf,
  type BmcChange,
  type BmcHardware,
  type BmcRequest,
  type BootSource,
} from '../../ironic-mock/index.js'
import type { BmcPoint, BmcProtocol } from './bmc-point.js'
import { callOverRedfish, namingCall } from './driver-call.js'

/** `[redfish]read_timeout`, and the time in which ipmitool has no answer to its only datagram. */
const ANSWER_TIMEOUTS = { redfish: seconds(60), ipmi: seconds(5) } as const

/** The caller of a node's BMC, and the probe that sees its calls. */
export interface BmcCaller {
  readonly probe: Probe
  /** Uuid of the node. */
  readonly node: string
  readonly protocol: BmcProtocol
  readonly signal: AbortSignal | undefined
}

/** A call of a BMC, which passes the probe, and whose errors name it. */
export function probedBmcCall<T>(
  { probe, node, protocol, signal }: BmcCaller,
  request: BmcRequest,
  work: () => Promise<T>,
): Promise<T> {
  const answerTimeout = protocol === null ? undefined : ANSWER_TIMEOUTS[protocol]
  const byRedfish = protocol === 'redfish' ? redfishRequestOf(request) : undefined
  const point: BmcPoint = {
    kind: 'bmc',
    node,
    call: request.call,
    protocol,
    ...defined({ request: byRedfish, answerTimeout, signal }),
  }
  if (protocol === 'redfish') return callOverRedfish(probe, point, request, work)
  return namingCall(request, () => probe.around(point, work))
}

/** Names of changes as calls, those that the Redfish service has for the requests that carry them out. */
const CHANGE_CALLS: Readonly<Record<BmcChange['change'], string>> = {
  'boot mode': 'set boot',
  'secure boot': 'change firmware',
  bios: 'change firmware',
  'bios defaults': 'change firmware',
  firmware: 'change firmware',
  'insert media': 'change media',
  'eject media': 'change media',
  indicator: 'change indicators',
  volumes: 'change firmware',
  nmi: 'set power',
  'reset bmc': 'reset bmc',
  raw: 'raw',
}

/** The hardware with a probe: each call passes it under its name. */
export function throughProbe(
  hardware: BmcHardware,
  around: <T>(request: BmcRequest, work: () => Promise<T>) => Promise<T>,
): BmcHardware {
  return {
    report: () => around({ call: 'read firmware' }, () => hardware.report()),
    system: () => around({ call: 'read hardware' }, () => hardware.system()),
    change: (change) => around({ call: CHANGE_CALLS[change.change], change }, () => hardware.change(change)),
    media: () => around({ call: 'read media' }, () => hardware.media()),
    indicators: () => around({ call: 'read indicators' }, () => hardware.indicators()),
    indicator: (component, name) => around({ call: 'read indicator' }, () => hardware.indicator(component, name)),
    subscribe: (subscription) => around({ call: 'subscribe' }, () => hardware.subscribe(subscription)),
    unsubscribe: (id) => around({ call: 'unsubscribe' }, () => hardware.unsubscribe(id)),
    subscriptions: () => around({ call: 'read subscriptions' }, () => hardware.subscriptions()),
  }
}

/** The device that a machine boots from next. */
export const bootDeviceOf = ({ kind }: BootSource): string => (['disk', 'cdrom'].includes(kind) ? kind : 'pxe')
