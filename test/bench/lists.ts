import { Asker } from './asked.js'
import { create, times } from './fake-nodes.js'
import { percentile, timed, type Measured } from './measure.js'
import type { Row } from './rows.js'
import { withUp } from './up.js'

/** Milliseconds of the median and of the slowest of a hundred. */
export interface Latency {
  p50: number
  p99: number
}

const ASKED = 100

/** Lists of our own API; `ironic` measures the same beside a real Ironic. */
export const lists = (): Promise<Measured[]> =>
  withFilled(1000, async (asker, fill) => {
    const thousand = await ofThousand(asker)
    await fill(10_000)
    const page = await listed(asker, '/v1/nodes?limit=1000&detail=true', ASKED)
    return [
      ...thousand,
      milliseconds('1,000 of 10,000 nodes in detail, p50', page.p50),
      milliseconds('1,000 of 10,000 nodes in detail, p99', page.p99, 60),
    ]
  })

/** Part of a quick look. */
export const listsOfThousand = (): Promise<Measured[]> => withFilled(1000, ofThousand)

/** The answers to one request, again and again. */
export async function listed(asker: Asker, path: string, count: number): Promise<Latency> {
  for (let warming = 0; warming < 3; warming++) await asker.ask('GET', path)
  const values: number[] = []
  for (let n = 0; n < count; n++) values.push(await timed(() => asker.ask('GET', path)))
  return { p50: percentile(values, 50), p99: percentile(values, 99) }
}

const ofThousand = async (asker: Asker): Promise<Measured[]> => [
  milliseconds('1,000 nodes in a list', (await listed(asker, '/v1/nodes', ASKED)).p50),
  milliseconds('1,000 nodes in detail', (await listed(asker, '/v1/nodes?detail=true', ASKED)).p50),
]

const withFilled = <T>(nodes: number, use: (asker: Asker, fill: (nodes: number) => Promise<void>) => Promise<T>) =>
  withUp(0, ['--profile', 'upstream'], async (url) => {
    using asker = new Asker(url)
    let made = 0
    const fill = async (count: number): Promise<void> => {
      await times(count - made, 16, () => create(asker))
      made = count
    }
    await fill(nodes)
    return await use(asker, fill)
  })

const milliseconds = (what: Row, ours: number, reach: number | null = null): Measured => ({
  ...{ what, ours, reach, peer: null, unit: 'ms', runs: ASKED },
})
