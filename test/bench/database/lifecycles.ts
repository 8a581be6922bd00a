import { lifecycle, times } from '../fake-nodes.js'
import { median, timed, type Measured } from '../measure.js'
import { endOf, type Contender, type DatabaseBench } from './contenders.js'

/** How many there are at once, and the share of the embedded store's that is wanted. */
const AT_ONCE = [
  { count: 1, reach: 0.4, lifecycles: 60 },
  { count: 8, reach: 0.6, lifecycles: 300 },
  { count: 32, reach: 0.75, lifecycles: 400 },
] as const

const RUNS = 5
/** Milliseconds between two looks, so that clients wait for the server and not for their own pause. */
const POLL_INTERVAL = 1

/** Lifecycles a minute of fake hardware, each client with the next of the contender's APIs. */
async function aMinute({ clients }: Contender, lifecycles: number, atOnce: number): Promise<number> {
  let next = 0
  const took = await timed(() =>
    times(lifecycles, atOnce, () => lifecycle(clients[next++ % clients.length]!, POLL_INTERVAL)),
  )
  return (lifecycles / took) * 60_000
}

/** One process on PostgreSQL, and three, against one that has its records for itself; all in turns. */
export async function lifecyclesOnDatabase(bench: DatabaseBench): Promise<Measured[]> {
  const embedded = await bench.embedded()
  const one = await bench.shared(bench.newSchema(), ['all'])
  const rows: Measured[] = []
  for (const each of [embedded, one]) await aMinute(each, 200, 8)
  for (const { count, reach, lifecycles } of AT_ONCE) {
    const own: number[] = []
    const costs: number[] = []
    const ours = await median(RUNS, async () => {
      own.push(await aMinute(embedded, lifecycles, count))
      const before = await bench.serverTime()
      const rate = await aMinute(one, lifecycles, count)
      costs.push(((await bench.serverTime()) - before) / lifecycles)
      return rate
    })
    const peer = middle(own)
    rows.push({
      what: `lifecycles a minute on PostgreSQL, ${count} at once`,
      ours,
      peer: { name: 'embedded', value: peer },
      reach: peer * reach,
      unit: '',
      runs: RUNS,
    })
    if (count === 8)
      rows.push({
        what: 'processor time of PostgreSQL a lifecycle',
        ours: middle(costs),
        peer: null,
        reach: 3,
        unit: 'ms',
        runs: RUNS,
      })
  }
  await endOf(embedded)
  rows.push(await ofThree(bench, one))
  await endOf(one)
  return rows
}

/** An API and two conductors, against one process that is both. */
async function ofThree(bench: DatabaseBench, one: Contender): Promise<Measured> {
  const three = await bench.shared(bench.newSchema(), ['all', 'all', 'all'])
  await aMinute(three, 200, 8)
  const alone: number[] = []
  const ours = await median(RUNS, async () => {
    alone.push(await aMinute(one, 300, 32))
    return aMinute(three, 300, 32)
  })
  await endOf(three)
  const peer = middle(alone)
  return {
    what: 'lifecycles a minute of three processes, 32 at once',
    ours,
    peer: { name: 'one process', value: peer },
    reach: peer,
    unit: '',
    runs: RUNS,
  }
}

const middle = (values: number[]): number => values.sort((a, b) => a - b)[Math.floor(values.length / 2)]!
