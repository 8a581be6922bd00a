import { BmcError } from '../../ironic-mock/index.js'
import { REGISTRY_DIAL_TIMEOUT, pullFailure, type CommandEnd } from '../../machine/index.js'
import { NODE_BUSY } from '../../bmc/ipmi/index.js'
import { redfishRefusal } from '../../bmc/redfish/index.js'
import { onAbort, type Clock } from '../../base/runtime/index.js'
import { ConnectionFailed, fileOf, isExchange, type WireResponse } from '../../base/wire/index.js'
import type { LabPoint, PointOf } from '../points.js'
import type { FaultEffect } from './fault.js'
import type { ActiveFault, FaultContext } from './faults.js'
import { cutOff, emptyLastError, halveBody, slowBody, withBody } from './faulty-answers.js'
import { cutFile, dropFile, slowedFile, spoiltFile } from './file-answers.js'
import { bmcAt, isOverHttp, isOverIpmi, machineAt } from './fault-points.js'

const OF_THIS_LAB = '(a fault of this lab)'

const connectionLost = () => new ConnectionFailed(`the connection was lost ${OF_THIS_LAB}`)
const bmcSilent = (point: LabPoint) => {
  if (isOverHttp(point)) return connectionLost()
  return new BmcError('unreachable', `the connection was refused ${OF_THIS_LAB}`)
}
/** A BMC that has too much to do. */
function busy(point: LabPoint, retryAfter: number): WireResponse {
  if (!isOverHttp(point)) throw new BmcError('unreachable', `it answered 503, service unavailable ${OF_THIS_LAB}`)
  const key = point.call === 'sign in' ? 'SessionLimitExceeded' : 'ServiceTemporarilyUnavailable'
  const args = key === 'SessionLimitExceeded' ? [] : [String(retryAfter)]
  return redfishRefusal(503, key, args, { 'retry-after': String(retryAfter) })
}

const diskFailure = (code: 'EIO' | 'ENOSPC') =>
  Object.assign(new Error(`${code === 'EIO' ? 'input/output error' : 'no space left on device'} ${OF_THIS_LAB}`), {
    code,
  })

/** Lets a fault have its effect at a point; `next` is what would happen without it, other faults included. */
export async function applyEffect<T>(
  active: ActiveFault,
  point: LabPoint,
  next: () => Promise<T>,
  context: FaultContext,
): Promise<T> {
  const { effect } = active.fault
  const { clock } = context
  switch (effect.kind) {
    case 'agent-silent':
      throw connectionLost()
    case 'agent-restart':
      context.restartAgent(machineAt(point, context)!)
      return next()
    case 'power-loss': {
      const machine = machineAt(point, context)
      if (machine !== undefined) context.cutPower(machine)
      return next()
    }
    case 'bmc-silent':
      throw bmcSilent(point)
    case 'bmc-dark':
      return point.kind === 'bmc' ? darkened(active, effect.ms, point, next, context) : next()
    case 'bmc-busy':
      return (isOverIpmi(point) ? NODE_BUSY : busy(point, effect.retryAfter ?? 30)) as T
    case 'bmc-lies':
      // A call that only reads has nothing to lie about; a change is left out.
      if (point.kind !== 'bmc' || isRead(point)) return next()
      if (!isOverHttp(point)) return undefined as T
      // A Redfish service answers as if it had carried the change out.
      point.lie()
      return next()
    case 'exit-code':
      return { exitCode: effect.code, stderr: effect.stderr ?? '' } satisfies CommandEnd as T
    case 'disk-error':
      throw diskFailure('EIO')
    case 'disk-full':
      throw diskFailure('ENOSPC')
    case 'disk-lies':
      return undefined as T
    case 'partitions-late':
      return false as T
    case 'pull-error':
      if (point.kind !== 'pull') return next()
      if (effect.reason === 'timeout') await clock.sleep(REGISTRY_DIAL_TIMEOUT, { weak: true })
      throw new Error(pullFailure(point.image, effect.reason ?? 'not-found'))
    case 'link-cut':
      return point.kind === 'ssh' ? linkCut(effect.ms, active, point.cut, next, clock) : next()
    case 'delay':
      await clock.sleep(effect.ms, { signal: active.ended })
      return next()
    case 'hang':
      await new Promise<void>((resolve) => onAbort(active.lifted, () => resolve()))
      throw point.kind === 'bmc' ? bmcSilent(point) : connectionLost()
    default:
      return (await exchanged(effect, point, next as () => Promise<WireResponse>, context)) as T
  }
}

/** Effects on exchanges. */
async function exchanged(
  effect: FaultEffect,
  point: LabPoint,
  next: () => Promise<WireResponse>,
  { clock }: FaultContext,
): Promise<WireResponse> {
  if (!isExchange(point) && !isOverHttp(point)) return next()
  const side = isExchange(point) ? point.side : 'server'
  switch (effect.kind) {
    case 'status': {
      const { status, body } = effect
      return withBody({ status, headers: { 'content-type': 'application/json' } }, body)
    }
    case 'connection-reset':
      if (effect.when === 'after') await dropFile(await next())
      throw connectionLost()
    case 'truncated-body':
      return eitherOf(await next(), cutFile, (answer) => cutOff(answer, side))
    case 'malformed-body':
      return eitherOf(await next(), spoiltFile, halveBody)
    case 'slow-body': {
      const { bytesPerSecond: pace } = effect
      const signal = isExchange(point) && 'signal' in point.request ? point.request.signal : undefined
      return eitherOf(
        await next(),
        (answer) => slowedFile(answer, pace, clock, signal),
        (answer) => slowBody(answer, pace, side, clock),
      )
    }
    case 'repeat':
      for (let more = (effect.times ?? 2) - 1; more > 0; more--) await dropFile(await next())
      return next()
    case 'wrong-token':
      if (isExchange(point)) point.changes.push((body) => ({ ...body, agent_token: 'not-the-token-of-this-agent' }))
      return next()
    case 'stale-agent-url':
      if (isExchange(point)) point.changes.push((body) => ({ ...body, callback_url: STALE_AGENT_URL }))
      return next()
    case 'empty-last-error':
      return emptyLastError(await next())
    default:
      return next()
  }
}

/** Changes an answer as that of a file server, or as one whose body is a text. */
const eitherOf = (
  answer: WireResponse,
  ofFile: (answer: WireResponse) => WireResponse,
  ofText: (answer: WireResponse) => WireResponse | Promise<WireResponse>,
): WireResponse | Promise<WireResponse> => (fileOf(answer) ? ofFile(answer) : ofText(answer))

/** No program listens on port 1 of a host: connections are refused. */
const STALE_AGENT_URL = 'http://127.0.0.1:1'

/** Without a time the link is gone before anything of the answer has gone over it. The command goes on in any case. */
function linkCut<T>(
  ms: number,
  { ended }: ActiveFault,
  cut: () => void,
  next: () => Promise<T>,
  clock: Clock,
): Promise<T> {
  if (ms === 0) cut()
  else void clock.sleep(ms, { signal: ended, weak: true }).then(cut, () => {})
  return next()
}

async function darkened<T>(
  { dark }: ActiveFault,
  ms: number,
  point: PointOf<'bmc'>,
  next: () => Promise<T>,
  context: FaultContext,
): Promise<T> {
  const { clock } = context
  const bmc = bmcAt(point, context)
  if (clock.now() < (dark.get(bmc) ?? 0)) throw bmcSilent(point)
  try {
    return await next()
  } finally {
    dark.set(bmc, clock.now() + ms)
  }
}

/** A call that changes nothing, or whose answer is something that was made. */
const isRead = ({ call }: PointOf<'bmc'>): boolean => /^(read |subscribe$|sign in$)/.test(call)
