import { onAbort, type Clock } from '../../../base/runtime/index.js'
import { fileOf, isExchange, type WireResponse } from '../../../base/wire/index.js'
import type { LabPoint, PointOf } from '../../points.js'
import { isAnsweredByHttp, answerTimeoutAt } from '../fault-points.js'
import { cutOff, halveBody, slowBody, withBody } from '../faulty-answers.js'
import { cutFile, dropFile, slowedFile, spoiltFile } from '../file-answers.js'
import { bmcSilent, connectionLost, type EffectActions } from './effect-action.js'

type AnsweredPoint = PointOf<'exchange' | 'bmc'>

/** Calls of BMCs are exchanges where they are answered by HTTP. */
const isAnswered = (point: AnsweredPoint): boolean => point.kind === 'exchange' || isAnsweredByHttp(point)

/** The answer at a point for which {@link isAnswered} holds. */
const answerOf = (next: () => Promise<unknown>) => next() as Promise<WireResponse>

const sideOf = (point: AnsweredPoint) => {
  if (isExchange(point)) return point.side
  // This lab's Ironic is its own client.
  return 'protocol' in point ? 'client' : 'server'
}

/** Aborted when the caller at a point waits for the answer no longer; undefined where that is not known here. */
function callerSignal(point: LabPoint): AbortSignal | undefined {
  if (isExchange(point)) return 'signal' in point.request ? point.request.signal : undefined
  return point.kind === 'bmc' && 'signal' in point ? point.signal : undefined
}

interface HoldUp {
  /** Milliseconds; without them the end of the fault is awaited. */
  readonly ms: number | undefined
  readonly clock: Clock
  /** Ends the wait. */
  readonly end: AbortSignal
}

/** Holds up a point. @throws the reason of a caller that gives up, and of `end` where there is a time to wait for */
async function holdUp(point: LabPoint, { ms, clock, end }: HoldUp): Promise<void> {
  const stop = new AbortController()
  const caller = callerSignal(point)
  using _ended = onAbort(end, (reason) => stop.abort(reason))
  using _left = caller && onAbort(caller, (reason) => stop.abort(reason))
  if (ms === undefined) await new Promise<void>((resolve) => onAbort(stop.signal, () => resolve()))
  else await clock.sleep(ms, { signal: stop.signal })
  caller?.throwIfAborted()
}

/** Changes an answer as that of a file server, or as one whose body is a text. */
const changeAnswer = (
  answer: WireResponse,
  asFile: (answer: WireResponse) => WireResponse,
  asText: (answer: WireResponse) => WireResponse | Promise<WireResponse>,
): WireResponse | Promise<WireResponse> => (fileOf(answer) ? asFile(answer) : asText(answer))

/** Effects on exchanges of any parties, and those that also hold up commands. */
export const EXCHANGE_EFFECTS: EffectActions<
  'status' | 'connection-reset' | 'hang' | 'truncated-body' | 'malformed-body' | 'slow-body' | 'repeat' | 'delay'
> = {
  status: {
    canAct: isAnswered,
    async apply({ effect: { status, body, headers } }) {
      const own = Object.entries(headers ?? {}).map(([name, value]) => [name.toLowerCase(), value] as const)
      return withBody({ status, headers: { 'content-type': 'application/json', ...Object.fromEntries(own) } }, body)
    },
  },
  'connection-reset': {
    canAct: isAnswered,
    async apply({ effect, next }) {
      if (effect.when === 'after') await dropFile(await answerOf(next))
      throw connectionLost()
    },
  },
  hang: {
    async apply({ point, active, context: { clock } }) {
      await holdUp(point, { ms: answerTimeoutAt(point), clock, end: active.lifted }).catch((error: unknown) => {
        if (!active.lifted.aborted) throw error
      })
      throw point.kind === 'bmc' ? bmcSilent(point) : connectionLost()
    },
  },
  'truncated-body': {
    canAct: isAnswered,
    apply: async ({ point, next }) =>
      changeAnswer(await answerOf(next), cutFile, (answer) => cutOff(answer, sideOf(point))),
  },
  'malformed-body': {
    canAct: isAnswered,
    apply: async ({ next }) => changeAnswer(await answerOf(next), spoiltFile, halveBody),
  },
  'slow-body': {
    canAct: isAnswered,
    async apply({ effect: { bytesPerSecond: pace }, point, next, context: { clock } }) {
      const signal = callerSignal(point)
      return changeAnswer(
        await answerOf(next),
        (answer) => slowedFile(answer, pace, clock, signal),
        (answer) => slowBody(answer, pace, { side: sideOf(point), clock, signal }),
      )
    },
  },
  repeat: {
    async apply({ effect, next }) {
      for (let more = (effect.times ?? 2) - 1; more > 0; more--) await dropFile(await next())
      return next()
    },
  },
  delay: {
    async apply({ effect, point, active, context, next }) {
      const answerTimeout = answerTimeoutAt(point) ?? Infinity
      const ms = Math.min(effect.ms, answerTimeout)
      await holdUp(point, { ms, clock: context.clock, end: active.ended })
      if (effect.ms > answerTimeout) throw bmcSilent(point)
      return next()
    },
  },
}
