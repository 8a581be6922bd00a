import { expect, test } from 'vitest'
import { systemClock } from '../../../runtime/index.js'
import { NodeTurns } from './node-turns.js'

test('a turn that nobody has is taken at once; those who wait get it in the order in which they came', async () => {
  const turns = new NodeTurns(systemClock())
  expect(turns.take('a')).toBeUndefined()
  expect([turns.isTaken('a'), turns.isTaken('b')]).toEqual([true, false])
  const order: number[] = []
  const waiting = [1, 2, 3].map(async (n) => {
    await turns.take('a')
    order.push(n)
    turns.release('a')
  })
  expect(turns.take('b')).toBeUndefined()
  turns.release('b')
  turns.release('a')
  await Promise.all(waiting)
  expect(order).toEqual([1, 2, 3])
  expect(turns.isTaken('a')).toBe(false)
})
