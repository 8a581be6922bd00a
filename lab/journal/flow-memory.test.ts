import { expect, test } from 'vitest'
import { FlowMemory } from './flow-memory.js'
import type { NewEntry, NewExchange } from '../../control/journal/entry.js'

const of = { node: 'a', name: null, machine: null, fault: null }
const state = (name: 'deploying' | 'wait call-back' | 'deploy failed' | 'deleted', was: 'available' | 'deploying') => ({
  noted: { ...of, kind: 'state', state: name, was, target: null, power: null, lastError: null } as NewEntry,
})
const beat = (status: number, at: number) => ({
  at,
  noted: { ...of, kind: 'exchange', to: 'ironic', target: '/v1/heartbeat/a', status } as NewExchange,
})
const struck = (fault: string, at: number) => ({
  at,
  noted: { ...of, kind: 'fault', fault, what: 'struck', effect: 'agent-silent' } as NewEntry,
})
const failed = (at: number) => ({
  at,
  noted: { ...of, kind: 'command', argv: ['lsblk'], exitCode: at, duration: 0, error: null } as NewEntry,
})

test('the first strike of a fault stays, and of heartbeats the last that was taken with the first that was not', () => {
  const memory = new FlowMemory<{ noted: NewEntry | NewExchange }>()
  const left = [state('deploying', 'available'), beat(202, 3), struck('fault-1', 4), beat(500, 5)]
  for (const entry of [left[0]!, beat(500, 1), beat(202, 2), ...left.slice(1), beat(500, 6), struck('fault-1', 7)])
    memory.dropped(entry)
  expect(memory.of('a')).toEqual(left)
  expect(memory.of('b')).toEqual([])
})

test('a new flow and the end of a node forget what was before', () => {
  const memory = new FlowMemory<{ noted: NewEntry | NewExchange }>()
  for (const entry of [struck('fault-1', 1), state('deploying', 'available')]) memory.dropped(entry)
  expect(memory.of('a')).toEqual([state('deploying', 'available')])
  memory.dropped(state('deleted', 'available'))
  expect(memory.of('a')).toEqual([])
})

test('a node with ever more failures has the last of them', () => {
  const memory = new FlowMemory<{ noted: NewEntry | NewExchange }>()
  for (let n = 1; n <= 1000; n++) memory.dropped(failed(n))
  expect(memory.of('a')).toEqual([failed(997), failed(998), failed(999), failed(1000)])
  for (let n = 1; n <= 1000; n++) memory.dropped(state('wait call-back', 'deploying'))
  expect(memory.of('a')).toHaveLength(64)
})
