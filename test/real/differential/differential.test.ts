import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { silent, systemClock, systemRandom } from '../../../runtime/index.js'
import { CONDUCTOR_HOST, serve, type Served } from '../../../lab/index.js'
import { realIronic, type RealIronic } from '../ironic.js'
import { compare, type Comparison } from './compare.js'
import { EXPLAINED } from './explained.js'
import { play, type Side } from './play.js'
import type { Script } from './script.js'
import { ALONE, TOGETHER } from './scripts/index.js'

let real: RealIronic
let served: Served
let sides: { real: Side; ours: Side }
const explained = new Set<string>()

beforeAll(async () => {
  // Who meets a lock asks again by itself, and sooner than Ironic does.
  real = await realIronic({ conductor: { node_locked_retry_attempts: 0 } })
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

async function unexplained(script: Script): Promise<Comparison> {
  const [theirs, own] = await Promise.all([play(script, sides.real), play(script, sides.ours)])
  const { differences, partings } = compare(script.name, theirs, own)
  return {
    differences: differences.filter((difference) => {
      const reason = EXPLAINED.find(({ applies }) => applies(difference))
      if (reason) explained.add(reason.row)
      if (reason && process.env['TELL']) console.log('EXPLAINED', reason.row.slice(0, 30), JSON.stringify(difference))
      return reason === undefined
    }),
    partings,
  }
}

/** @throws with one paragraph for each difference that nothing explains, and for calls that were not compared */
function expectNone(comparisons: readonly Comparison[]): void {
  const told = comparisons.flatMap(({ differences, partings }) => [
    ...differences.map(
      ({ script, call, at, real: theirs, ours }) =>
        `${script}: ${call}\n  ${at}\n    real ${JSON.stringify(theirs)}\n    ours ${JSON.stringify(ours)}`,
    ),
    // Also after a difference that is explained: it belongs to the end of its script, or apart.
    ...partings.map(({ call, left }) => `${left} calls are not compared, since the two part at ${call}`),
  ])
  if (told.length > 0) throw new Error(`${told.length} unexplained differences\n${told.join('\n')}`)
}

test.each(ALONE)('$name: as the real Ironic answers', { timeout: 600_000 }, async (script) => {
  expectNone([await unexplained(script)])
})

test.each(TOGETHER)('$name: as the real Ironic answers, and led alike', { timeout: 900_000 }, async ({ scripts }) => {
  const left = [...scripts]
  const found: Comparison[] = []
  const worker = async () => {
    for (let script = left.shift(); script; script = left.shift()) found.push(await unexplained(script))
  }
  await Promise.all(Array.from({ length: 6 }, worker))
  expectNone(found)
})

test('every explanation is still needed', () => {
  expect(EXPLAINED.map(({ row }) => row).filter((row) => !explained.has(row))).toEqual([])
})

test('every explanation is a row of docs/fidelity.md', async () => {
  const document = await readFile(new URL('../../../docs/fidelity.md', import.meta.url), 'utf8')
  const rows = document.split('\n').map((line) => line.split(' | ')[0]!.slice(2))
  expect(EXPLAINED.map(({ row }) => row).filter((row) => !rows.includes(row))).toEqual([])
})
