import { expect, test } from 'vitest'
import type { ExchangeEntry } from '../journal/entry.js'
import { marksOf } from './marks.js'

const heartbeat = (more: Partial<ExchangeEntry>): ExchangeEntry => ({
  id: 1,
  node: 'a',
  name: 'node-0',
  machine: 'machine-1',
  labTime: '2026-01-01T00:00:00.000Z',
  wallTime: '2026-01-01T00:00:00.000Z',
  fault: null,
  kind: 'exchange',
  from: 'agent',
  to: 'ironic',
  method: 'POST',
  target: '/v1/heartbeat/a',
  status: 202,
  error: null,
  requestId: null,
  duration: 1,
  request: { headers: {}, body: null, size: 0 },
  response: null,
  nearMiss: null,
  ...more,
})

test('a mark names the process that has counted its entry, where there are several', () => {
  expect(marksOf([heartbeat({ id: 7, process: 'conductor-1' })])).toMatchObject([{ entry: 7, process: 'conductor-1' }])
  expect(marksOf([heartbeat({ id: 7 })])[0]).not.toHaveProperty('process')
})

test.each<[string, Partial<ExchangeEntry>, string, boolean]>([
  ['that Ironic takes', {}, 'heartbeat', false],
  ['while Ironic works on the node', { status: 409 }, 'heartbeat: 409', false],
  ['that a fault refuses', { status: 409, fault: 'f1' }, 'heartbeat: 409', true],
  ['that Ironic cannot take', { status: 503 }, 'heartbeat: 503', true],
  ['without an answer', { status: null, error: 'refused' }, 'heartbeat: refused', true],
])('a heartbeat %s', (_, entry, text, isBad) => {
  expect(marksOf([heartbeat(entry)])).toMatchObject([{ kind: 'heartbeat', text, isBad }])
})
