import fc from 'fast-check'
import { beforeAll, describe, expect, test } from 'vitest'
import { validateIgnition } from '../../../ignition/index.js'
import { comparable, plainRoot, runOurs } from '../../kit/first-boot-run.js'
import { configs } from './first-boot/configs.js'
import { realEngine, runEngine } from './first-boot/engine.js'
import { HAND_WRITTEN } from './first-boot/hand-written.js'

let program: string
beforeAll(async () => {
  program = await realEngine()
}, 900_000)

async function compare(config: string) {
  const real = comparable(await runEngine(program, plainRoot(), config))
  expect({ config, ...comparable(await runOurs(config)) }).toEqual({ config, ...real })
  return real
}

describe('the tree and the journal that Ignition itself leaves', () => {
  test('for configs written by hand, which npm test has as recorded here', async () => {
    const recorded: Record<string, object> = {}
    for (const [name, config] of Object.entries(HAND_WRITTEN))
      recorded[name] = { config, ...(await compare(JSON.stringify(config))) }
    await expect(`${JSON.stringify(recorded, null, 1)}\n`).toMatchFileSnapshot(
      '../../fixtures/first-boot/recorded.json',
    )
  })

  test('for a hundred configs made at random', { timeout: 600_000 }, async () => {
    const made = fc.sample(configs, { numRuns: 120, seed: 8 }).map((config) => JSON.stringify(config))
    const valid = made.filter((config) => validateIgnition(config).valid)
    expect(valid.length).toBeGreaterThan(90)
    for (const config of made) await compare(config)
  })
})
