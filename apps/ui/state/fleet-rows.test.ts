import { expect, test } from 'vitest'
import type { JournalEntry, NodeReport } from '../../../control/index.js'
import { rowOfNode, Rows } from './fleet-rows.js'

const report = (name: string, more: Partial<NodeReport> = {}): NodeReport => ({
  name,
  uuid: `id-${name}`,
  machine: null,
  provision_state: 'available',
  power_state: 'power off',
  last_error: null,
  target: null,
  since: null,
  step: null,
  maintenance: false,
  waitsFor: null,
  ...more,
})

const entry = (more: object): JournalEntry =>
  ({
    id: 1,
    node: 'id-node-2',
    name: 'node-2',
    machine: null,
    fault: null,
    labTime: '2026-01-01T00:01:00Z',
    wallTime: '2026-01-01T00:01:00Z',
    ...more,
  }) as JournalEntry

function three(): Rows {
  const rows = new Rows()
  rows.replace(['node-10', 'node-2', 'node-1'].map((name) => rowOfNode(report(name))))
  return rows
}

const state = (more: object = {}) =>
  entry({
    kind: 'state',
    state: 'deploying',
    was: 'available',
    target: 'active',
    power: 'power on',
    lastError: null,
    ...more,
  })

test('rows are in the order of their names, numbers by their value', () => {
  expect(
    three()
      .list()
      .map(({ name }) => name),
  ).toEqual(['node-1', 'node-2', 'node-10'])
})

test('an entry of a state changes its row alone, and since when', () => {
  const rows = three()
  const [first] = rows.list()
  expect(rows.apply(state())).toBe(true)
  expect(rows.list()[1]).toMatchObject({ state: 'deploying', look: 'working', target: 'active', power: 'power on' })
  expect(rows.get('id-node-2')).toMatchObject({ since: Date.parse('2026-01-01T00:01:00Z') })
  expect(rows.list()[0]).toBe(first)
})

test('a state that stays keeps since when', () => {
  const rows = three()
  rows.apply(state())
  rows.apply(state({ labTime: '2026-01-01T00:09:00Z', lastError: 'no room' }))
  expect(rows.get('id-node-2')).toMatchObject({ since: Date.parse('2026-01-01T00:01:00Z'), error: 'no room' })
})

test('a step is shown while it runs', () => {
  const rows = three()
  const step = { kind: 'step', interface: 'deploy', step: 'install_coreos', percent: 40 }
  expect(rows.apply(entry(step))).toBe(true)
  expect(rows.get('id-node-2')?.step).toBe('deploy.install_coreos 40%')
  expect(rows.apply(entry(step))).toBe(false)
  rows.apply(state({ state: 'active', target: null }))
  expect(rows.get('id-node-2')?.step).toBe(null)
})

test('a node that is deleted goes, and one that is new has to be asked for', () => {
  const rows = three()
  rows.apply(state({ state: 'deleted' }))
  expect(rows.list()).toHaveLength(2)
  expect(rows.apply(state())).toBe('unknown')
})

test('the faults that struck a node are remembered, each once', () => {
  const rows = three()
  const strike = (fault: string, what = 'struck') => rows.apply(entry({ kind: 'fault', fault, what, effect: 'hang' }))
  expect([strike('fault-1'), strike('fault-1'), strike('fault-2', 'added')]).toEqual([true, false, false])
  rows.apply(entry({ kind: 'command', fault: 'fault-3' }))
  expect(rows.struckBy('id-node-2')).toEqual(['fault-1', 'fault-3'])
})

test('ten thousand entries change ten thousand rows within a second', () => {
  const rows = new Rows()
  rows.replace(Array.from({ length: 10_000 }, (_, n) => rowOfNode(report(`node-${n}`))))
  rows.list()
  const since = performance.now()
  for (let n = 0; n < 10_000; n++) rows.apply(state({ node: `id-node-${n}` }))
  expect(performance.now() - since).toBeLessThan(1000)
  expect(rows.list().every(({ state: now }) => now === 'deploying')).toBe(true)
})
