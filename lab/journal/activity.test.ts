import { expect, test } from 'vitest'
import type { ProvisionState } from '../../base/wire/index.js'
import type { NewEntry, NewExchange } from '../../control/index.js'
import { ActivityCounter } from './activity.js'

const exchange = { kind: 'exchange', node: null } as NewExchange
const stateOf = (node: string, state: string) => ({ kind: 'state', node, state }) as NewEntry

/** A counter whose clock is set by hand. */
function counterAt(start = 1_800_000_000_000) {
  const clock = { now: start }
  const counter = new ActivityCounter(() => clock.now)
  const note = (entry: NewEntry | NewExchange, seconds = 0) => {
    clock.now += seconds * 1000
    counter.note(entry, clock.now)
  }
  return { clock, counter, note }
}

test('states, arrivals and exchanges are counted by the second', () => {
  const { clock, counter, note } = counterAt()
  note(stateOf('a', 'enroll'))
  note(stateOf('b', 'enroll'))
  note(exchange)
  note(stateOf('a', 'verifying'), 1.5)
  note(stateOf('a', 'verifying'))
  note(exchange)
  note(exchange)
  clock.now += 1000
  const { points, goal } = counter.report()
  expect(goal).toBeNull()
  expect(points).toEqual([
    {
      at: '2027-01-15T08:00:01.000Z',
      seconds: 1,
      states: { enroll: 2 },
      entered: { enroll: 2 },
      exchanges: 1,
    },
    {
      at: '2027-01-15T08:00:02.000Z',
      seconds: 1,
      states: { enroll: 1, verifying: 1 },
      entered: { verifying: 1 },
      exchanges: 2,
    },
    {
      at: '2027-01-15T08:00:02.500Z',
      seconds: 0.5,
      states: { enroll: 1, verifying: 1 },
      entered: {},
      exchanges: 0,
    },
  ])
})

test('a deleted node is counted no more, and a repeated state is no arrival', () => {
  const { counter, note } = counterAt()
  note(stateOf('a', 'active'))
  note(stateOf('a', 'active'))
  note(stateOf('a', 'deleted'))
  note(stateOf('never seen', 'deleted'))
  expect(counter.report().points).toMatchObject([{ states: {}, entered: { active: 1 } }])
})

test('a whole hour takes no more points, and loses no exchange', () => {
  const { counter, note } = counterAt()
  let most = 0
  for (let second = 0; second < 3500; second++) {
    note(exchange, 1)
    if (second % 50 === 0) most = Math.max(most, counter.report().points.length)
  }
  const { points } = counter.report()
  expect(most).toBeLessThanOrEqual(226)
  expect(points.length).toBeLessThanOrEqual(226)
  expect(points.reduce((sum, { exchanges }) => sum + exchanges, 0)).toBe(3500)
  expect(points.at(-2)!.seconds).toBe(16)
  for (let second = 0; second < 10_000; second++) note(exchange, 1)
  const later = counter.report().points
  expect(later.length).toBeLessThanOrEqual(226)
  const length = later.reduce((sum, { seconds }) => sum + seconds, 0)
  expect(length).toBeGreaterThanOrEqual(3600 - 16)
  expect(length).toBeLessThanOrEqual(3616)
  for (const [index, { at, seconds }] of later.entries())
    if (index > 0) expect((Date.parse(at) - Date.parse(later[index - 1]!.at)) / 1000).toBeCloseTo(seconds, 6)
})

test('silence keeps the last states; after months of it only the last hour is made', () => {
  const { clock, counter, note } = counterAt()
  note(stateOf('a', 'active'))
  note(exchange)
  clock.now += 10_000
  const soon = counter.report().points
  expect(soon.map(({ states }) => states)).toEqual(Array.from({ length: 11 }, () => ({ active: 1 })))
  clock.now += 200 * 86_400_000
  const began = performance.now()
  const { points } = counter.report()
  expect(performance.now() - began).toBeLessThan(1000)
  expect(points.length).toBeLessThanOrEqual(226)
  expect(points.every(({ states, exchanges }) => states['active'] === 1 && exchanges === 0)).toBe(true)
})

test('a clock that is set back loses nothing', () => {
  const { counter, note } = counterAt()
  note(exchange)
  note(exchange, -3600)
  expect(counter.report().points).toMatchObject([{ exchanges: 2, seconds: 0 }])
})

test('the states of a snapshot take the place of those before', () => {
  const { counter, note } = counterAt()
  note(stateOf('a', 'active'))
  counter.recount([
    ['b', 'available'],
    ['c', 'available'],
  ] satisfies [string, ProvisionState][])
  note(stateOf('b', 'deploying'))
  expect(counter.report().points).toMatchObject([{ states: { available: 1, deploying: 1 } }])
})
