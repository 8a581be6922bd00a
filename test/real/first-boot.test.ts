import fc from 'fast-check'
import { beforeAll, describe, expect, test } from 'vitest'
import { validateIgnition } from '../../ignition/index.js'
import { baseRoot } from '../../machine/root/base-root.js'
import type { RootRecord } from '../../machine/root/root-records.js'
import { configs } from './first-boot/configs.js'
import { realEngine, runEngine, type EngineRun } from './first-boot/engine.js'
import { HAND_WRITTEN } from './first-boot/hand-written.js'
import { runOurs } from './first-boot/own.js'

let program: string
beforeAll(async () => {
  program = await realEngine()
}, 900_000)

/** When it ran is chance. */
function masked(path: string, record: RootRecord): RootRecord {
  if (record.kind !== 'file') return record
  const text = Buffer.from(record.base64, 'base64').toString()
  if (path === '/etc/.ignition-result.json')
    return { ...record, base64: text.replace(/("provisioning\w+": ").*?"/g, '$1"') }
  return record
}

const shown = ({ tree, failed }: EngineRun) => ({
  failed,
  tree: Object.fromEntries([...tree].map(([path, record]) => [path, masked(path, record)])),
})

const said = ({ journal }: EngineRun): string[] =>
  journal
    .filter(
      (line) =>
        !/compiled without relabeling|parsing config with SHA512|config (dir|file)? ?at|system config file/.test(line),
    )
    .filter((line) => !/: fetched (referenced )?(base|user) config|wrote ssh authorized keys file/.test(line))

async function compare(config: string): Promise<void> {
  const real = await runEngine(program, baseRoot(), config)
  const ours = await runOurs(baseRoot(), config)
  expect({ config, ...shown(ours) }).toEqual({ config, ...shown(real) })
  expect({ config, said: said(ours) }).toEqual({ config, said: said(real) })
}

describe('the tree and the journal that Ignition itself leaves', () => {
  test.each(Object.entries(HAND_WRITTEN))('%s', async (_, config) => {
    await compare(JSON.stringify(config))
  })

  test('for a hundred configs made at random', { timeout: 600_000 }, async () => {
    const made = fc.sample(configs, { numRuns: 120, seed: 8 }).map((config) => JSON.stringify(config))
    const valid = made.filter((config) => validateIgnition(config).valid)
    expect(valid.length).toBeGreaterThan(90)
    for (const config of made) await compare(config)
  })
})
