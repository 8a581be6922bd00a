import { afterAll, beforeAll, expect, test } from 'vitest'
import { fidelityRows } from '../../../kit/fidelity/fidelity-rows.js'
import { EXPLAINED } from './explained.js'
import { ALONE, TOGETHER } from './scripts/index.js'
import { expectNone, openSides, together, type Sides } from './sides.js'

let sides: Sides

beforeAll(async () => {
  sides = await openSides()
}, 1_800_000)

afterAll(() => sides[Symbol.asyncDispose]())

test.each(ALONE)('$name: as the real Ironic answers', { timeout: 600_000 }, async (script) => {
  expectNone([await sides.unexplained(script)])
})

test.each(TOGETHER)('$name: as the real Ironic answers, and led alike', { timeout: 900_000 }, async ({ scripts }) => {
  expectNone(await together(sides, scripts))
})

test('every explanation is still needed', () => {
  expect(EXPLAINED.map(({ row }) => row).filter((row) => !sides.explained.has(row))).toEqual([])
})

test('every explanation is a row of fidelity', () => {
  const rows = fidelityRows().map(({ upstream }) => upstream)
  expect(EXPLAINED.map(({ row }) => row).filter((row) => !rows.includes(row))).toEqual([])
})
