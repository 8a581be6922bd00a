import { afterAll, beforeAll, test } from 'vitest'
import { adoption, ADOPTION_SETTINGS } from './scripts/adoption.js'
import { expectNone, openSides, together, type Sides } from './sides.js'

let sides: Sides

beforeAll(async () => {
  sides = await openSides(ADOPTION_SETTINGS)
}, 1_800_000)

afterAll(() => sides[Symbol.asyncDispose]())

test('nodes are adopted, and not adopted, as by the real Ironic', { timeout: 600_000 }, async () => {
  expectNone(await together(sides, adoption()))
})
