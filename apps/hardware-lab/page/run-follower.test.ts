import { expect, test } from 'vitest'
import { newHostState, type HostRunState } from '../pipeline/run-state.js'
import { RunFollower } from './run-follower.js'

const BEGAN = Date.parse('2026-01-01T00:00:00Z')

function followed(change: (host: HostRunState) => void = () => {}) {
  const follower = new RunFollower({ isRehearsal: false, isCheck: false, stages: ['bmc', 'steps'] })
  const host = newHostState('node-1')
  change(host)
  follower.began('a-run', new Map([[host.name, host]]))
  return { follower, host, shown: () => follower.progress().hosts[0]! }
}

const stage = (status: 'started' | 'done' | 'failed', more: object = {}) => ({
  status,
  attempts: 1,
  startedAt: BEGAN,
  seconds: status === 'started' ? null : 3,
  failure: null,
  ...more,
})

test('before a run has begun it has no hosts', () => {
  const follower = new RunFollower({ isRehearsal: true, isCheck: true, stages: [] })
  expect(follower.progress()).toMatchObject({ id: null, isRehearsal: true, isCheck: true, hosts: [], isOver: false })
})

test('progress and lines of a console are those of the present stage', () => {
  const { follower, shown } = followed((host) => {
    host.outcome = 'running'
    host.stages = { bmc: stage('done'), steps: stage('started') }
  })
  const at = { event: 'progress', host: 'node-1', stage: 'steps' } as const
  follower.see({ ...at, percent: 12 })
  follower.see({ ...at, text: 'installing' })
  expect(shown()).toMatchObject({ percent: 12, detail: 'installing', since: '2026-01-01T00:00:00.000Z' })
  follower.see({ event: 'console', host: 'node-1', kind: 'kernel panic', line: 'not syncing' })
  expect(shown().detail).toBe('kernel panic: not syncing')
  follower.see({ event: 'stage', host: 'node-1', stage: 'steps', status: 'started', attempt: 2 })
  expect(shown()).toMatchObject({ percent: null, detail: '' })
})

test('a failed host says why and what to do', () => {
  const failure = { code: 'bmc-refused', sentences: ['the BMC refused', 'it is busy'], remedy: 'wait' }
  const { shown } = followed((host) => {
    host.outcome = 'failed'
    host.stages = { bmc: stage('failed', { failure }) }
  })
  expect(shown()).toMatchObject({ why: ['the BMC refused', 'it is busy'], remedy: 'wait', since: null })
})

test('a skipped host says why', () => {
  const { shown } = followed((host) => {
    host.outcome = 'skipped'
    host.skipped = 'the canary failed'
  })
  expect(shown()).toMatchObject({ outcome: 'skipped', why: ['the canary failed'] })
})

test('the end names the report', () => {
  const { follower } = followed()
  follower.ended('/a/report.html')
  expect(follower.progress()).toMatchObject({ id: 'a-run', isOver: true, report: '/a/report.html' })
})
