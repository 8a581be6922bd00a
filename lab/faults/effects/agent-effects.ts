import { REGISTRY_DIAL_TIMEOUT, pullFailure } from '../../../machine/index.js'
import type { PointOf } from '../../points.js'
import { EXCHANGE_PARTIES } from '../../../control/index.js'
import { machineAt } from '../fault-points.js'
import { emptyLastError } from '../faulty-answers.js'
import { canStrikeMachine } from './machine-effects.js'
import { connectionLost, type EffectActions } from './effect-action.js'

/** No program listens on port 1 of a host: connections are refused. */
const STALE_AGENT_URL = 'http://127.0.0.1:1'

/** Effects on agents, and on what passes between them and Ironic. */
export const AGENT_EFFECTS: EffectActions<
  'agent-silent' | 'agent-restart' | 'wrong-token' | 'stale-agent-url' | 'empty-last-error' | 'pull-error'
> = {
  'agent-silent': {
    canAct: EXCHANGE_PARTIES['with agents'].includes,
    apply: () => Promise.reject(connectionLost()),
  },
  'agent-restart': {
    canAct: canStrikeMachine,
    async apply({ point, context, next }) {
      context.restartAgent(machineAt(point, context)!)
      return next()
    },
  },
  'wrong-token': {
    canAct: EXCHANGE_PARTIES['from agents'].includes,
    async apply({ point, next }) {
      const answer = await sendChanged(point, next, { agent_token: 'not-the-token-of-this-agent' })
      return answer
    },
  },
  'stale-agent-url': {
    canAct: EXCHANGE_PARTIES['from agents'].includes,
    async apply({ point, next }) {
      const answer = await sendChanged(point, next, { callback_url: STALE_AGENT_URL })
      return answer
    },
  },
  'empty-last-error': {
    canAct: EXCHANGE_PARTIES['to ironic'].includes,
    apply: async ({ next }) => emptyLastError(await next()),
  },
  'pull-error': {
    async apply({ effect, point, context }) {
      if (effect.reason === 'timeout') await context.clock.sleep(REGISTRY_DIAL_TIMEOUT, { weak: true })
      throw new Error(pullFailure(point.image, effect.reason ?? 'not-found'))
    },
  },
}

/** Sends a request whose body has other members. */
async function sendChanged<T>(point: PointOf<'exchange'>, next: () => Promise<T>, members: object): Promise<T> {
  point.changes.push((body) => ({ ...body, ...members }))
  return next()
}
