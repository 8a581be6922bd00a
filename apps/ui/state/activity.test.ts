import { expect, test } from 'vitest'
import { fleetRow } from '../../../test/kit/fleet-row.js'
import type { ActivityPoint } from '../../../control/index.js'
import { countsByLook, drawActivity, exchangeRate, lookCounts, pointAt, progressOf, rateText } from './activity.js'
import type { FleetRow } from './fleet-rows.js'

let made = 0
const row = (state: string, more: Partial<FleetRow> = {}): FleetRow => fleetRow(`node-${made++}`, state, more)

const START = Date.parse('2027-01-01T10:00:00Z')

/** Points of a second each, of what came into `active`. */
const arrivals = (...counts: number[]): ActivityPoint[] =>
  counts.map((count, index) => ({
    at: new Date(START + (index + 1) * 1000).toISOString(),
    seconds: 1,
    states: {},
    entered: Object.fromEntries(count > 0 ? [['active', count]] : []),
    exchanges: 0,
  }))

const rowsOf = (...groups: [number, FleetRow][]): FleetRow[] =>
  groups.flatMap(([count, one]) => Array.from({ length: count }, () => one))

test('progress is the share of machines in the state that most go to', () => {
  const rows = rowsOf(
    [10, row('active')],
    [5, row('deploying', { target: 'active' })],
    [1, row('cleaning', { target: 'available' })],
    [2, row('deploy failed', { error: 'x' })],
    [2, row('enroll', { error: 'no BMC' })],
  )
  expect(progressOf(rows, null)).toEqual({
    goal: 'active',
    total: 20,
    done: 10,
    underway: 5,
    failed: 4,
    percent: 50,
    perMinute: null,
    timeLeft: null,
  })
})

test('with --begin all that have not failed are on their way, whatever their next state is', () => {
  const rows = rowsOf([1, row('enroll')], [2, row('cleaning', { target: 'available' })], [1, row('active')])
  const progress = progressOf(rows, { goal: 'active', points: arrivals(1, 0) })
  expect(progress).toMatchObject({ goal: 'active', done: 1, underway: 3, percent: 25 })
})

test('the time left follows from the arrivals of the last minutes', () => {
  const rows = rowsOf([10, row('active')], [5, row('deploying', { target: 'active' })])
  const progress = progressOf(rows, { goal: null, points: arrivals(0, 0, 2, 2, 2, 2, 2) })
  expect(progress.perMinute).toBeCloseTo(120)
  expect(progress.timeLeft).toBeCloseTo(2500)
})

test('the time left counts down to the last arrival, and to nothing once the last are late', () => {
  const rows = rowsOf([4, row('active')], [5, row('deploying', { target: 'active' })])
  const left = (points: ActivityPoint[]) => progressOf(rows, { goal: null, points }).timeLeft
  expect(left([])).toBeNull()
  expect(left(arrivals(0, 0, 0))).toBeNull()
  expect(left(arrivals(1, 0))).toBeNull()
  expect(left(arrivals(2, 2))).toBeCloseTo(2500)
  expect(left(arrivals(2, 2, 0))).toBeCloseTo(1500)
  expect(left(arrivals(2, 2, 0, 0, 0))).toBe(0)
  expect(left(arrivals(2, 2, ...Array.from({ length: 400 }, () => 0)))).toBeNull()
})

test('with --begin a node in maintenance is not waited for', () => {
  const rows = rowsOf([4, row('active')], [1, row('available', { isInMaintenance: true })])
  expect(progressOf(rows, { goal: 'active', points: arrivals(2, 2) })).toMatchObject({ underway: 0, timeLeft: null })
})

test('99.9 percent are not all, and an empty fleet has none', () => {
  expect(progressOf(rowsOf([999, row('active')], [1, row('deploy failed')]), null).percent).toBe(99)
  expect(progressOf([], null)).toMatchObject({ percent: 0, total: 0, timeLeft: null })
})

test('machines are counted by the groups of their states', () => {
  expect(lookCounts(rowsOf([3, row('active')], [2, row('cleaning')], [1, row('clean failed')]))).toEqual({
    active: 3,
    rescue: 0,
    ready: 0,
    working: 2,
    waiting: 0,
    failed: 1,
    new: 0,
  })
})

test('machines of a fleet are brought to on', () => {
  expect(progressOf(rowsOf([1, row('on', { isNode: false })], [3, row('off', { isNode: false })]), null)).toMatchObject(
    {
      goal: 'on',
      done: 1,
      total: 4,
    },
  )
})

test('exchanges a second are those of the last ten seconds', () => {
  const points = arrivals(...Array.from({ length: 30 }, () => 0)).map((point, index) => ({
    ...point,
    exchanges: index < 20 ? 1000 : 40,
  }))
  expect(exchangeRate(points.slice(0, 1))).toBe(1000)
  expect(exchangeRate(points)).toBeGreaterThanOrEqual(40)
  expect(exchangeRate(points)).toBeLessThan(200)
  expect(exchangeRate([])).toBe(0)
})

test.each([
  [0, '0'],
  [0.01, '< 0.1'],
  [0.44, '0.4'],
  [9.96, '10'],
  [123.4, '123'],
])('the rate %d is written %s', (rate, text) => expect(rateText(rate)).toBe(text))

test('states are stacked by their groups; steps of equal height are one', () => {
  const point = (seconds: number, states: Record<string, number>, exchanges = 0): ActivityPoint => ({
    at: new Date(START + seconds * 1000).toISOString(),
    seconds: 30,
    states,
    entered: {},
    exchanges,
  })
  const points = [point(30, { enroll: 4 }), point(60, { enroll: 4 }, 60), point(90, { active: 1, enroll: 3 }, 30)]
  const drawing = drawActivity(points, { width: 90, height: 40, exchangesHeight: 10 })
  expect(drawing.most).toBe(4)
  expect(drawing.peak).toBe(2)
  expect(drawing.bands).toEqual([
    { look: 'active', path: 'M0 40V40H60V30H90V40Z' },
    { look: 'new', path: 'M0 40V0H90V30H60V40Z' },
  ])
  expect(drawing.exchanges).toBe('M0 10V10H30V0H60V5H90V10Z')
  expect(drawing.edges).toEqual([30, 60, 90])
  expect(pointAt(drawing.edges, 45)).toBe(1)
  expect(pointAt(drawing.edges, 900)).toBe(2)
})

test('a lab without a past is drawn as half a minute of nothing', () => {
  const drawing = drawActivity([], { width: 100, height: 40, exchangesHeight: 10 })
  expect(drawing.bands).toEqual([])
  expect(drawing.to - drawing.from).toBe(30_000)
  expect(countsByLook({ active: 2, 'deploy failed': 1, error: 1 })).toMatchObject({ active: 2, failed: 2, new: 0 })
})
