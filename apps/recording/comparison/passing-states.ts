import { isObject } from '../../../base/runtime/index.js'
import { PROVISION_STATES } from '../../../base/wire/index.js'
import type { RecordingExchange } from '../format/recording-exchange.js'
import { type ComparedCall, lastOf } from './compared-calls.js'

/** A state that leads to another one by itself: a poll may or may not see it. */
const isPassingState = (state: string): boolean => /(ing|wait|call-back)$/.test(state)

/** The provision state that an answer about one node shows. */
export function stateIn({ response }: Pick<RecordingExchange, 'response'>): string | undefined {
  const body = response?.body
  const state = isObject(body) ? body['provision_state'] : undefined
  return PROVISION_STATES.find((known) => known === state)
}

/** The provision states that a call saw, one after another. */
export const seenStatesOf = ({ exchanges }: ComparedCall): string[] =>
  exchanges.flatMap((exchange) => stateIn(exchange) ?? []).filter((state, index, all) => state !== all[index - 1])

/** States in which a node rested during a call, without the one before it began to move, and the last state. */
export function restsOf(call: ComparedCall): string[] {
  const states = seenStatesOf(call)
  const rests = states
    .filter((state, index) => !isPassingState(state) || index === states.length - 1)
    .filter((state, index, all) => state !== all[index - 1])
  return states.length > 1 && states[0] === rests[0] ? rests.slice(1) : rests
}

/** Fields of a node that move after a request was answered. */
const MOVING = [
  'provision_state',
  'power_state',
  'target_provision_state',
  'target_power_state',
  'maintenance',
  'state',
]

/** The part of an answer for which a client polls: status, states of nodes, lengths of lists, whether a lock is held. */
export function progressOf({ status, response }: Pick<RecordingExchange, 'status' | 'response'>): string {
  const lists: number[] = []
  const states: string[] = []
  const look = (value: unknown, level: number): void => {
    if (Array.isArray(value)) {
      if (level === 1) lists.push(value.length)
      if (level <= 1) for (const item of value) look(item, level + 1)
    } else if (isObject(value)) {
      const moving = MOVING.filter((key) => key in value).map((key) => [key, value[key]])
      if ('reservation' in value) moving.push(['locked', value['reservation'] !== null])
      if (moving.length > 0) states.push(JSON.stringify(moving))
      if (level === 0) for (const inner of Object.values(value)) if (Array.isArray(inner)) look(inner, level + 1)
    }
  }
  look(response?.body, 0)
  return JSON.stringify([status, lists, states.sort()])
}

/** Whether the answer shows no node on its way: polling any longer shows the same. */
export function isAtRest({ response }: Pick<RecordingExchange, 'response'>): boolean {
  const body = response?.body
  const nodes = isObject(body) && Array.isArray(body['nodes']) ? (body['nodes'] as unknown[]) : [body]
  return nodes.every((node) => {
    if (!isObject(node)) return true
    const { provision_state: state, target_power_state: power, reservation } = node
    return !(typeof state === 'string' && isPassingState(state)) && !power && !reservation
  })
}

/** Whether a call ended while its node was on its way to another state. */
export const endsInPassing = (call: ComparedCall): boolean => isPassingState(stateIn(lastOf(call)) ?? '')
