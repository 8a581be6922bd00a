import fc from 'fast-check'
import { expect, test } from 'vitest'
import { brokenInvariants, fuzz } from '../kit/fuzz/index.js'
import { openStage } from './stage.js'

/** A short run for every `npm test`; the soak is longer. */
const seed = fc.readConfigureGlobal().seed ?? 1

test('calls made from the operation table, right and wrong, are answered, never with 5xx, and the database stays sound', async () => {
  await using stage = await openStage()
  const { api, store } = stage
  const statuses = await fuzz({ api, store, lookEvery: 25 }, { calls: 2500, seed })
  // They reach further than the first check.
  for (const status of [200, 201, 202, 204, 400, 404, 405, 406])
    expect(statuses.get(status), `calls answered with ${status}`).toBeGreaterThan(0)
  expect(brokenInvariants(store)).toEqual([])
})
