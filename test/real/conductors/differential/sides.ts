import { silent, systemClock, systemRandom } from '../../../../base/runtime/index.js'
import { serve } from '../../../../lab/index.js'
import { freePort } from '../../free-port.js'
import { realIronic } from '../../ironic.js'
import { compare, type Comparison } from './compare.js'
import { EXPLAINED } from './explained.js'
import { play } from './play.js'
import type { Script } from './script.js'

/** A real Ironic and ours, set up alike. */
export interface Sides extends AsyncDisposable {
  /** Plays a script on both. What is explained is left out, and its explanation noted. */
  unexplained(script: Script): Promise<Comparison>
  /** Rows of the explanations that were needed. */
  readonly explained: ReadonlySet<string>
}

type Settings = Readonly<Record<string, Record<string, string | number>>>

/** @param settings of Ironic, besides those that it needs to run by itself */
export async function openSides(settings: Settings = {}): Promise<Sides> {
  // The client retries on a lock, and sooner than Ironic does.
  const conductor = { ...settings.conductor, node_locked_retry_attempts: 0 }
  const real = await realIronic({ ...settings, conductor })
  // Its public endpoint need not be where it is.
  const port = await freePort()
  const served = await serve({
    // Both sides read the same file: users take their ironic.conf along.
    ironic: { profile: 'upstream', files: [{ name: 'ironic.conf', text: real.config }] },
    host: '127.0.0.1',
    port,
    nodes: 0,
    stateDir: null,
    realistic: false,
    clock: systemClock(),
    random: systemRandom,
    logger: silent,
  })
  const explained = new Set<string>()
  return {
    explained,
    unexplained: async (script) => {
      const [theirs, own] = await Promise.all([
        // `[DEFAULT]host` of the file.
        play(script, { url: real.url, conductor: 'real-conductor' }),
        play(script, { url: `http://127.0.0.1:${port}`, conductor: 'real-conductor' }),
      ])
      const { differences, partings } = compare(script.name, theirs, own)
      return {
        differences: differences.filter((difference) => {
          const reason = EXPLAINED.find(({ applies }) => applies(difference))
          if (reason) explained.add(reason.row)
          return reason === undefined
        }),
        partings,
      }
    },
    async [Symbol.asyncDispose]() {
      await served[Symbol.asyncDispose]()
      await real[Symbol.asyncDispose]()
    },
  }
}

/** Plays scripts that know nothing of each other, several at a time. */
export async function together(sides: Sides, scripts: readonly Script[]): Promise<Comparison[]> {
  const left = [...scripts]
  const found: Comparison[] = []
  const worker = async () => {
    for (let script = left.shift(); script; script = left.shift()) found.push(await sides.unexplained(script))
  }
  await Promise.all(Array.from({ length: 6 }, worker))
  return found
}

/** @throws with one paragraph for each difference that nothing explains, and for calls that were not compared */
export function expectNone(comparisons: readonly Comparison[]): void {
  const lines = comparisons.flatMap(({ differences, partings }) => [
    ...differences.map(
      ({ script, call, at, real: theirs, ours }) =>
        `${script}: ${call}\n  ${at}\n    real ${JSON.stringify(theirs)}\n    ours ${JSON.stringify(ours)}`,
    ),
    // Also after a difference that is explained: it belongs to the end of its script, or apart.
    ...partings.map(({ call, left }) => `${left} calls are not compared, since the two part at ${call}`),
  ])
  if (lines.length > 0) throw new Error(`${lines.length} unexplained differences\n${lines.join('\n')}`)
}
