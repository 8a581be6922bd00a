import { expect, test } from 'vitest'
import { shrinkList } from './shrink.js'

const numbers = Array.from({ length: 40 }, (_, index) => index)

test.each([
  ['one item', [17]],
  ['two items that are far apart', [3, 38]],
  ['three items', [0, 20, 21]],
  ['nothing at all', []],
])('what depends on %s shrinks to it', async (_, needed) => {
  let looks = 0
  const found = await shrinkList(numbers, (part) => {
    looks++
    return Promise.resolve(needed.every((item) => part.includes(item)))
  })
  expect(found).toEqual(needed)
  // Each subset would be a million million looks.
  expect(looks).toBeLessThan(120)
})

test('a list that fails only as a whole stays whole', async () => {
  const whole = numbers.slice(0, 5)
  expect(await shrinkList(whole, (part) => Promise.resolve(part.length === 5))).toEqual(whole)
})
