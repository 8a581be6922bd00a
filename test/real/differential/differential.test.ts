import { afterAll, beforeAll, expect, test } from 'vitest'
import { silent, systemClock, systemRandom } from '../../../runtime/index.js'
import { CONDUCTOR_HOST, serve, type Served } from '../../../lab/index.js'
import { realIronic, type RealIronic } from '../ironic.js'
import { compare, type Difference } from './compare.js'
import { EXPLAINED } from './explained.js'
import { play, type Side } from './play.js'
import type { Script } from './script.js'
import { microversions } from './scripts/microversions.js'
import { creations, lists, patches } from './scripts/nodes.js'
import * as others from './scripts/other-resources.js'
import { subResources } from './scripts/sub-resources.js'
import { malformedVerbs, verbsInStates } from './scripts/verbs.js'

let real: RealIronic
let served: Served
let sides: { real: Side; ours: Side }
const explained = new Set<string>()

beforeAll(async () => {
  real = await realIronic()
  served = await serve({
    // The very file: whoever moves from one to the other keeps it.
    ironic: { profile: 'upstream', files: [{ name: 'ironic.conf', text: real.config }] },
    ...{ host: '127.0.0.1', port: 0, nodes: 0, stateDir: null, realistic: false },
    ...{ clock: systemClock(), random: systemRandom, logger: silent },
  })
  sides = {
    real: { url: real.url, conductor: 'real-conductor' },
    ours: { url: served.url, conductor: CONDUCTOR_HOST },
  }
}, 1_800_000)

afterAll(async () => {
  await served[Symbol.asyncDispose]()
  await real[Symbol.asyncDispose]()
})

async function unexplained(script: Script): Promise<Difference[]> {
  const [theirs, own] = await Promise.all([play(script, sides.real), play(script, sides.ours)])
  return compare(script.name, theirs, own).filter((difference) => {
    const reason = EXPLAINED.find(({ applies }) => applies(difference))
    if (reason) explained.add(reason.row)
    return reason === undefined
  })
}

/** @throws with one paragraph for each difference that nothing explains */
function expectNone(differences: readonly Difference[]): void {
  if (differences.length === 0) return
  const told = differences.map(
    ({ script, call, at, real: theirs, ours }) =>
      `${script}: ${call}\n  ${at}\n    real ${JSON.stringify(theirs)}\n    ours ${JSON.stringify(ours)}`,
  )
  throw new Error(`${differences.length} unexplained differences\n${told.join('\n')}`)
}

/** They list what is there, so they are played one after the other. */
const ALONE: readonly Script[] = [
  others.nowhere(),
  microversions(),
  lists(),
  creations(),
  patches(),
  malformedVerbs(),
  subResources(),
  others.ports(),
  others.portgroups(),
  others.chassisAndVolumes(),
  others.deployTemplates(),
  others.runbooks(),
  others.inspectionRules(),
  others.allocations(),
]

test.each(ALONE)('$name: as the real Ironic answers', { timeout: 600_000 }, async (script) => {
  expectNone(await unexplained(script))
})

test('every verb in every state: answered alike, and led alike', { timeout: 900_000 }, async () => {
  const left = verbsInStates()
  const found: Difference[] = []
  const worker = async () => {
    for (let script = left.shift(); script; script = left.shift()) found.push(...(await unexplained(script)))
  }
  await Promise.all(Array.from({ length: 6 }, worker))
  expectNone(found)
})

test('every explanation is still needed', () => {
  expect(EXPLAINED.map(({ row }) => row).filter((row) => !explained.has(row))).toEqual([])
})
