import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, test } from 'vitest'
import { adopting, caring, cleaning, imaging, Installing, living } from '../kit/process-kills/client-goals.js'
import { KillingRun } from '../kit/process-kills/killing-run.js'
import { rehearsalImage } from '../kit/images/rehearsal-image.js'

const KILLS = Number(process.env['SOAK_KILLS'] ?? 100)
const SEED = Number(process.env['SOAK_SEED'] ?? 7)

/** A released hold continues at the agent's next heartbeat: within two seconds instead of three minutes. */
const HEARTBEATS = ['--set', 'api.ramdisk_heartbeat_timeout=4']

let folder: string
let image: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ironstage-soak-'))
  const path = join(folder, 'disk.raw')
  await writeFile(path, await rehearsalImage())
  image = pathToFileURL(path).href
})
afterAll(() => rm(folder, { recursive: true, force: true }))

test.each([
  // Metal3's profile has fast track, upstream's everything else.
  ['of a deployment', 'metal3', () => [new Installing('node-0'), new Installing('node-1')]],
  [
    'of all flows',
    'upstream',
    () => [new Installing('node-0'), imaging(image), living, caring, caring, cleaning, cleaning, adopting, adopting],
  ],
])(`${KILLS} kills at random moments %s lose nothing`, async (what, profile, itineraries) => {
  const stateDir = join(folder, what.replaceAll(' ', '-'))
  const run = await KillingRun.start({
    stateDir,
    seed: SEED,
    itineraries: itineraries(),
    argv: ['--profile', profile, '--set', `conductor.file_url_allowed_paths=${folder}`, ...HEARTBEATS],
  })
  const since = performance.now()
  try {
    while (run.kills < KILLS) {
      await run.killOnce()
      if (run.kills % 10 === 0) console.log(`${run.kills} kills in ${Math.round((performance.now() - since) / 1000)} s`)
    }
    await run.finish()
  } finally {
    await run.end()
    console.log(run.summary())
  }
})
