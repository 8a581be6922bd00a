import { onAbort } from '../../../base/runtime/index.js'
import { fileOf, isExchange, type WireResponse } from '../../../base/wire/index.js'
import type { PointOf } from '../../points.js'
import { isOverHttp } from '../fault-points.js'
import { cutOff, halveBody, slowBody, withBody } from '../faulty-answers.js'
import { cutFile, dropFile, slowedFile, spoiltFile } from '../file-answers.js'
import { bmcSilent, connectionLost, type EffectActions } from './effect-action.js'

type AnsweredPoint = PointOf<'exchange' | 'bmc'>

/** Calls of BMCs are exchanges where they come over Redfish. */
const isAnswered = (point: AnsweredPoint): boolean => point.kind === 'exchange' || isOverHttp(point)

/** The answer at a point for which {@link isAnswered} holds. */
const answerOf = (next: () => Promise<unknown>) => next() as Promise<WireResponse>

const sideOf = (point: AnsweredPoint) => (isExchange(point) ? point.side : 'server')

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
    async apply({ point, active }) {
      await new Promise<void>((resolve) => onAbort(active.lifted, () => resolve()))
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
    async apply({ effect, active, context, next }) {
      await context.clock.sleep(effect.ms, { signal: active.ended })
      return next()
    },
  },
}
