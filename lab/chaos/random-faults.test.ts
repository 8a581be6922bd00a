import { expect, test } from 'vitest'
import { minutes, seededRandom } from '../../base/runtime/index.js'
import { effectFacts, FAULT_KINDS } from '../../control/faults/fault-effects.js'
import { randomFault } from './random-faults.js'

test('chaos draws every effect, but those whose facts say why not', () => {
  const random = seededRandom(1)
  const drawn = new Set(Array.from({ length: 2000 }, () => randomFault(random, 'node-0', minutes(30)).effect.kind))
  const expected = FAULT_KINDS.filter((kind) => effectFacts(kind).notInChaos === undefined)
  expect([...drawn].sort()).toEqual([...expected].sort())
})
