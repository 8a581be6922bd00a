import { expect, test } from 'vitest'
import { ReaderSchedule } from './reader-schedule.js'

const settled = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 50))

test('only readers for whom there is something are woken, those of one key one after the other', async () => {
  const schedule = new ReaderSchedule()
  const over = new AbortController()
  const woken: string[] = []
  const wanted = new Set(['a', 'b'])
  const names = ['a1', 'b1', 'c1', 'a2', 'b2']
  const waits = names.map(async (name) => {
    const key = name[0]!
    const place = schedule.enter({ key, isPatient: true, hasMore: () => wanted.has(key) }, over.signal)
    await place.wait(false)
    woken.push(name)
  })
  schedule.ring()
  await settled()
  expect(woken).toEqual(['a1', 'a2', 'b1', 'b2'])
  wanted.add('c')
  schedule.ring()
  await settled()
  expect(woken.at(-1)).toBe('c1')
  await Promise.all(waits)
})

test('a reader that waits is let go at the abort, and costs nothing from then on', async () => {
  const schedule = new ReaderSchedule()
  const over = new AbortController()
  let looks = 0
  const hasMore = (): boolean => (looks++, false)
  const waits = schedule.enter({ key: 'a', isPatient: true, hasMore }, over.signal).wait(false)
  over.abort()
  await waits
  schedule.ring()
  await settled()
  expect(looks).toBe(0)
})
