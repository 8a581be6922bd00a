import { onAbort } from '../../../base/runtime/index.js'
import { fileOf, isExchange, type WireResponse } from '../../../base/wire/index.js'
import type { PointOf } from '../../points.js'
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
    async apply({ effect: { status, body } }) {
      return withBody({ status, headers: { 'content-type': 'application/json' } }, body)
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
      const answerTimeout = answerTimeoutAt(point)
      if (answerTimeout === undefined) await new Promise<void>((resolve) => onAbort(active.lifted, () => resolve()))
      else await clock.sleep(answerTimeout, { signal: active.lifted }).catch(() => {})
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
      const signal = isExchange(point) && 'signal' in point.request ? point.request.signal : undefined
      return changeAnswer(
        await answerOf(next),
        (answer) => slowedFile(answer, pace, clock, signal),
        (answer) => slowBody(answer, pace, sideOf(point), clock),
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
      await context.clock.sleep(Math.min(effect.ms, answerTimeout), { signal: active.ended })
      if (effect.ms > answerTimeout) throw bmcSilent(point)
      return next()
    },
  },
}
