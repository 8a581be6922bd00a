import { expect, test } from 'vitest'
import type { TimelineMark } from '../../../control/index.js'
import { cellAfter, cellAt, gridLayout, scrolledTo, visibleCells } from './grid-layout.js'
import { clustersOf, moveSpan, ticksOf, wholeSpan, zoomSpan } from './timeline-layout.js'

test('ten thousand cells have their places, and only those that are seen are drawn', () => {
  const layout = gridLayout(10_000, 1100, 'auto')
  expect(layout).toMatchObject({ columns: 50, rows: 200, detail: 'mark', height: 4400 })
  expect(visibleCells(layout, 10_000, 2200, 440)).toEqual([5000, 6000])
  expect(visibleCells(layout, 10_000, 4300, 440)).toEqual([9750, 10_000])
})

test('few cells show their state, and share the width', () => {
  const layout = gridLayout(40, 1000, 'auto')
  expect(layout).toMatchObject({ columns: 5, cellWidth: 200, detail: 'state' })
  expect(gridLayout(40, 100, 'large')).toMatchObject({ columns: 1 })
})

test('a point leads to its cell, and one beside them to none', () => {
  const layout = gridLayout(7, 600, 'large')
  expect(cellAt(layout, 7, 250, 70)).toBe(4)
  expect(cellAt(layout, 7, 250, 170)).toBe(null)
  expect(cellAt(layout, 7, 599, 70)).toBe(5)
  expect(cellAt(layout, 7, 700, 70)).toBe(null)
})

test('keys lead from cell to cell, and not beyond', () => {
  const layout = gridLayout(7, 600, 'large')
  const path = (keys: string[]) => keys.reduce((at, key) => cellAfter(key, layout, 7, at)!, 0)
  expect(path(['j', 'ArrowDown'])).toBe(4)
  expect(path(['End', 'j', 'ArrowDown'])).toBe(6)
  expect(path(['k', 'Home'])).toBe(0)
  expect(cellAfter('x', layout, 7, 0)).toBe(null)
  expect(cellAfter('j', layout, 0, 0)).toBe(null)
})

test('a box is scrolled as little as shows a span', () => {
  expect(scrolledTo(100, 200, 150, 180)).toBe(100)
  expect(scrolledTo(100, 200, 50, 80)).toBe(50)
  expect(scrolledTo(100, 200, 290, 320)).toBe(120)
})

const whole = { from: 0, to: 1000 }

test('a zoom keeps the time under the pointer, and never leaves the whole', () => {
  expect(zoomSpan(whole, 0.5, 250, whole)).toEqual({ from: 125, to: 625 })
  expect(zoomSpan({ from: 0, to: 100 }, 4, 0, whole)).toEqual({ from: 0, to: 400 })
  expect(zoomSpan({ from: 0, to: 600 }, 4, 0, whole)).toEqual(whole)
  expect(zoomSpan({ from: 500, to: 520 }, 0.01, 510, whole)).toEqual({ from: 500, to: 520 })
  expect(moveSpan({ from: 800, to: 1000 }, 1, whole)).toEqual({ from: 800, to: 1000 })
  expect(moveSpan({ from: 400, to: 600 }, -0.5, whole)).toEqual({ from: 300, to: 500 })
})

test('a timeline without entries has a span', () => {
  const { from, to } = wholeSpan({ since: null, now: '2026-01-01T00:00:00Z' })
  expect(to).toBeGreaterThan(from)
})

test('ticks are round and not too many', () => {
  expect(ticksOf({ from: 100, to: 9900 }, 5)).toEqual([2000, 4000, 6000, 8000])
  expect(ticksOf({ from: 0, to: 86_400_000 }, 6)).toHaveLength(7)
})

const mark = (entry: number, ms: number, more: Partial<TimelineMark> = {}): TimelineMark => ({
  entry,
  kind: 'heartbeat',
  at: new Date(ms).toISOString(),
  duration: 0,
  text: 'heartbeat',
  isBad: false,
  fault: null,
  ...more,
})

test('marks that would cover each other are one, and one that is bad makes it bad', () => {
  const marks = [
    mark(1, 100),
    mark(2, 104, { isBad: true }),
    mark(3, 500),
    mark(4, 102, { kind: 'bmc' }),
    mark(5, 2000),
  ]
  const clusters = clustersOf(marks, whole, 0.01)
  expect(clusters.map(({ lane, marks: own, isBad }) => [lane, own.map(({ entry }) => entry), isBad])).toEqual([
    ['agent', [1, 2], true],
    ['BMC', [4], false],
    ['agent', [3], false],
  ])
})
