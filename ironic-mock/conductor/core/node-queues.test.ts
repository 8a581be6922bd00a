import { expect, test } from 'vitest'
import { systemClock } from '../../../base/runtime/index.js'
import { NodeQueues } from './node-queues.js'

test('a queue that is empty is entered at once; others wait in the order in which they came', async () => {
  const queues = new NodeQueues(systemClock())
  expect(queues.enter('a')).toBeUndefined()
  expect([queues.isBusy('a'), queues.isBusy('b')]).toEqual([true, false])
  const order: number[] = []
  const waiting = [1, 2, 3].map(async (n) => {
    await queues.enter('a')
    order.push(n)
    queues.leave('a')
  })
  expect(queues.enter('b')).toBeUndefined()
  queues.leave('b')
  queues.leave('a')
  await Promise.all(waiting)
  expect(order).toEqual([1, 2, 3])
  expect(queues.isBusy('a')).toBe(false)
})
