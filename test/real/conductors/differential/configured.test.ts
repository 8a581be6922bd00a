import { afterAll, beforeAll, test } from 'vitest'
import { configured, SETTINGS } from './scripts/configured.js'
import { expectNone, openSides, type Sides } from './sides.js'

let sides: Sides

beforeAll(async () => {
  sides = await openSides(SETTINGS)
}, 1_800_000)

afterAll(() => sides[Symbol.asyncDispose]())

test.each(configured())('set up otherwise, $name: as the real Ironic answers', async (script) => {
  expectNone([await sides.unexplained(script)])
})
