import { expect, test } from 'vitest'
import type { RunHost, RunProgress } from '../../../control/index.js'
import { failedFirst, stagesOf, summarizeRun } from './run-progress-state.js'

const host = (name: string, outcome: RunHost['outcome'], more: Partial<RunHost> = {}): RunHost => ({
  host: name,
  outcome,
  stages: [],
  since: null,
  percent: null,
  detail: '',
  why: [],
  remedy: null,
  ...more,
})

const run = (hosts: RunHost[], more: Partial<RunProgress> = {}): RunProgress => ({
  id: 'r1',
  isRehearsal: true,
  isCheck: false,
  stages: ['bmc', 'boot', 'steps', 'power'],
  hosts,
  isOver: false,
  report: null,
  ...more,
})

test('stages of a host: those that were begun with their times, the others to come', () => {
  const stages: RunHost['stages'] = [
    { stage: 'bmc', status: 'skipped', attempts: 1, seconds: 0 },
    { stage: 'boot', status: 'done', attempts: 2, seconds: 31.4 },
    { stage: 'steps', status: 'started', attempts: 1, seconds: null },
  ]
  expect(stagesOf(run([]), host('a', 'running', { stages, percent: 42.7 }))).toEqual([
    { stage: 'bmc', status: 'skipped', note: '' },
    { stage: 'boot', status: 'done', note: '31 s, at the second attempt' },
    { stage: 'steps', status: 'started', note: '42 %' },
    { stage: 'power', status: 'to come', note: '' },
  ])
})

const MIXED = [host('a', 'ok'), host('b', 'failed'), host('c', 'running'), host('d', 'waiting'), host('e', 'ok')]

test.each([
  ['none yet', run([]), 'The run begins.'],
  ['some', run(MIXED), '5 hosts: 2 installed, 1 failed, 1 running, 1 waiting.'],
  ['one', run([host('a', 'running')]), '1 host: 1 running.'],
  ['the end', run(MIXED, { isOver: true }), 'The run is over: 2 installed, 1 failed, 1 not finished, 1 not started.'],
  ['a check', run([host('a', 'ok')], { isCheck: true, isOver: true }), 'The run is over: 1 fine.'],
])('a run is summed up: %s', (_, progress, sentence) => {
  expect(summarizeRun(progress)).toBe(sentence)
})

test('failed hosts are first, the others in their order', () => {
  expect(failedFirst(MIXED).map((one) => one.host)).toEqual(['b', 'a', 'c', 'd', 'e'])
})
