import { expect, test } from 'vitest'
import { wallTimes } from './wall-time.js'

const iso = (seconds: number): string => new Date(seconds * 1000).toISOString()

test('times of a lab whose clock was fast for a while are those at which they were seen', () => {
  // Real time until 10 s, an hour within 6 s, real time again.
  const walls = [
    { lab: iso(0), wall: iso(1000) },
    { lab: iso(10), wall: iso(1010) },
    { lab: iso(3610), wall: iso(1016) },
  ]
  const wallOf = wallTimes(walls, { lab: 3_620_000, wall: 1_026_000 })
  expect([-5, 5, 10, 1810, 3615, 3700].map((seconds) => wallOf(seconds * 1000) / 1000)).toEqual([
    995, 1005, 1010, 1013, 1021, 1106,
  ])
})

test('without entries the present is all that is known', () => {
  expect(wallTimes([], { lab: 100, wall: 5000 })(50)).toBe(4950)
})
