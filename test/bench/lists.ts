import { BenchClient } from './bench-client.js'
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
  withFilled(1000, async (client, fill) => {
    const thousand = await ofThousand(client)
    await fill(10_000)
    const page = await listed(client, '/v1/nodes?limit=1000&detail=true', ASKED)
    return [
      ...thousand,
      milliseconds('1,000 of 10,000 nodes in detail, p50', page.p50),
      milliseconds('1,000 of 10,000 nodes in detail, p99', page.p99, 60),
    ]
  })

/** Part of a quick look. */
export const listsOfThousand = (): Promise<Measured[]> => withFilled(1000, ofThousand)

/** The answers to one request, again and again. */
export async function listed(client: BenchClient, path: string, count: number): Promise<Latency> {
  for (let warming = 0; warming < 3; warming++) await client.ask('GET', path)
  const values: number[] = []
  for (let n = 0; n < count; n++) values.push(await timed(() => client.ask('GET', path)))
  return { p50: percentile(values, 50), p99: percentile(values, 99) }
}

const ofThousand = async (client: BenchClient): Promise<Measured[]> => [
  milliseconds('1,000 nodes in a list', (await listed(client, '/v1/nodes', ASKED)).p50),
  milliseconds('1,000 nodes in detail', (await listed(client, '/v1/nodes?detail=true', ASKED)).p50),
]

const withFilled = <T>(
  nodes: number,
  use: (client: BenchClient, fill: (nodes: number) => Promise<void>) => Promise<T>,
) =>
  withUp(0, ['--profile', 'upstream'], async (url) => {
    using client = new BenchClient(url)
    let made = 0
    const fill = async (count: number): Promise<void> => {
      await times(count - made, 16, () => create(client))
      made = count
    }
    await fill(nodes)
    return await use(client, fill)
  })

const milliseconds = (what: Row, ours: number, reach: number | null = null): Measured => ({
  what,
  ours,
  reach,
  peer: null,
  unit: 'ms',
  runs: ASKED,
})
