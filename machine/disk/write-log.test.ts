import { expect, test } from 'vitest'
import { WriteLog } from './write-log.js'

const range = (offset: number, length: number, at = 0, by = 'dd', boot = 'one') => ({ offset, length, at, by, boot })

const shown = (log: WriteLog) => log.ranges.map(({ offset, length, by, at }) => [offset, length, by, at])

test('writes that continue where the last one ended are one range', () => {
  const log = new WriteLog()
  log.note(range(0, 10, 1))
  log.note(range(10, 10, 2))
  log.note(range(30, 5, 3))
  expect(shown(log)).toEqual([
    [0, 20, 'dd', 2],
    [30, 5, 'dd', 3],
  ])
})

test('a later write takes its bytes from an earlier one, in its middle too', () => {
  const log = new WriteLog()
  log.note(range(0, 100, 1))
  log.note(range(40, 20, 2, 'mkfs'))
  log.note(range(90, 30, 3, 'system', 'two'))
  expect(shown(log)).toEqual([
    [0, 40, 'dd', 1],
    [40, 20, 'mkfs', 2],
    [60, 30, 'dd', 1],
    [90, 30, 'system', 3],
  ])
})

test('any number of writes needs little memory: the nearest ranges become one', () => {
  const log = new WriteLog()
  for (let index = 0; index < 1000; index++) log.note(range(index * 100, 10, index, `p${index % 2}`))
  expect(log.ranges).toHaveLength(64)
  expect(log.ranges[0]!.offset).toBe(0)
  const last = log.ranges.at(-1)!
  expect(last.offset + last.length).toBe(99_910)
  for (const [index, one] of log.ranges.entries())
    if (index > 0)
      expect(one.offset).toBeGreaterThanOrEqual(log.ranges[index - 1]!.offset + log.ranges[index - 1]!.length)
})
