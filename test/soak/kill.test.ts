import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, test } from 'vitest'
import { KillingRun } from '../kit/killed/killing-run.js'

let folder: string
beforeAll(async () => void (folder = await mkdtemp(join(tmpdir(), 'ironstage-soak-'))))
afterAll(() => rm(folder, { recursive: true, force: true }))

test.each([[7]])('100 kills at random moments of a deployment lose nothing (seed %i)', async (seed) => {
  const run = await KillingRun.start({ stateDir: join(folder, `${seed}`), seed })
  try {
    while (run.kills < 100) await run.killOnce()
    await run.finish()
  } finally {
    await run.end()
    console.log(run.summary())
  }
})
