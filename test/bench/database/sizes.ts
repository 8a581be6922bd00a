import type { BenchClient } from '../bench-client.js'
import { create, lifecycle, times } from '../fake-nodes.js'
import { listed } from '../lists.js'
import { pssOf, processorTime, timed, type Cells, type Measured, type Outcome } from '../measure.js'
import { DatabaseBench, endOf, type Contender } from './contenders.js'

/** How many nodes there are when the costs are looked at, each with two ports. */
const SIZES = [1000, 10_000, 100_000] as const
const ENROLLED_AT_ONCE = 32
/** Lifecycles over which the costs of one are counted. */
const LIFECYCLES = 300

/** Costs with so many nodes. */
interface Seen {
  /** Milliseconds in which the nodes since the size before were enrolled, and for how many that was. */
  enrolled: { took: number; nodes: number; own: number; server: number }
  rows: number
  /** MiB of all tables with their indexes. */
  disk: number
  /** Milliseconds from the start of a further process until it is ready. */
  started: number
  /** MiB of that process. */
  memory: number
  /** Milliseconds of a page of 1,000 nodes in detail. */
  page: { p50: number; p99: number }
  lifecycle: LifecycleCosts
}

interface LifecycleCosts {
  commits: number
  rows: number
  /** KiB of the log of PostgreSQL. */
  log: number
  /** Milliseconds of processor time. */
  own: number
  server: number
}

/** Costs of a node on PostgreSQL at several sizes, by counts of the server and of the kernel. */
export async function sizesOnDatabase(): Promise<Outcome> {
  await using bench = await DatabaseBench.open()
  const schema = bench.newSchema()
  const one = await bench.shared(schema, ['all'])
  const seen: Seen[] = []
  let there = 0
  for (const size of SIZES) {
    seen.push(await atSize(bench, schema, one, { from: there, to: size }))
    there = size
    process.stderr.write(`  ${size} nodes: ${JSON.stringify(seen.at(-1))}\n`)
  }
  const last = seen.at(-1)!
  const row = (what: Measured['what'], ours: number, unit: 'ms' | 'MiB', reach: number): Measured => ({
    what,
    ours,
    peer: null,
    reach,
    unit,
    runs: 1,
  })
  const enrolled = seen.reduce((sum, each) => sum + each.enrolled.took, 0)
  return {
    rows: [
      row('100,000 nodes enrolled on PostgreSQL', enrolled, 'ms', 300_000),
      row('start of a process with 100,000 nodes on PostgreSQL', last.started, 'ms', 5000),
      row('memory of a process with 100,000 nodes on PostgreSQL', last.memory, 'MiB', 900),
      row('1,000 of 100,000 nodes on PostgreSQL in detail, p99', last.page.p99, 'ms', 60),
    ],
    more: [tableOf(seen)],
  }
}

async function atSize(
  bench: DatabaseBench,
  schema: string,
  one: Contender,
  { from, to }: { from: number; to: number },
): Promise<Seen> {
  const client = one.clients[0]!
  const spent = await spending(bench, one, () => timed(() => times(to - from, ENROLLED_AT_ONCE, () => enroll(client))))
  const enrolled = { took: spent.value, nodes: to - from, own: spent.own, server: spent.server }
  const lifecycleCosts = await costsOfLifecycle(bench, one)
  const [rows, bytes] = (await bench.server.sql(SIZE_OF_SCHEMA(schema))).split('|').map(Number)
  const since = performance.now()
  const further = await bench.shared(schema, ['api'])
  const started = performance.now() - since
  const page = await listed(further.clients[0]!, '/v1/nodes?limit=1000&detail=true', 100)
  const memory = await pssOf(further.processes[0]!.pid)
  await endOf(further)
  return { enrolled, rows: rows!, disk: bytes! / 2 ** 20, started, memory, page, lifecycle: lifecycleCosts }
}

let addresses = 0

async function enroll(client: BenchClient): Promise<void> {
  const node_uuid = await create(client)
  for (let port = 0; port < 2; port++) {
    const last = (addresses++).toString(16).padStart(8, '0').match(/../g)!.join(':')
    await client.ask('POST', '/v1/ports', { node_uuid, address: `52:54:${last}` })
  }
}

/** Processor time that the processes and the server take for some work. */
async function spending<T>(
  bench: DatabaseBench,
  { processes }: Contender,
  work: () => Promise<T>,
): Promise<{ value: T; own: number; server: number }> {
  const own = async (): Promise<number> => {
    let sum = 0
    for (const { pid } of processes) sum += await processorTime(pid)
    return sum
  }
  const before = { own: await own(), server: await bench.serverTime() }
  const value = await work()
  return { value, own: (await own()) - before.own, server: (await bench.serverTime()) - before.server }
}

async function costsOfLifecycle(bench: DatabaseBench, one: Contender): Promise<LifecycleCosts> {
  const counts = async (): Promise<number[]> => (await bench.server.sql(COUNTS)).split('|').map(Number)
  // The server's sums of a session are there some time after its work.
  const before = await counts()
  const { own, server } = await spending(bench, one, () => times(LIFECYCLES, 8, () => lifecycle(one.clients[0]!)))
  const after = await counts()
  const [commits, rows, log] = after.map((value, place) => (value - before[place]!) / LIFECYCLES)
  return { commits: commits!, rows: rows!, log: log! / 1024, own: own / LIFECYCLES, server: server / LIFECYCLES }
}

/** Sums of the session are there once it has asked for them. */
const COUNTS = `select sum(seq)::bigint, (select sum(n_tup_ins + n_tup_upd + n_tup_del) from pg_stat_user_tables),
  pg_current_wal_lsn() - '0/0'::pg_lsn from bench1.streams`

const SIZE_OF_SCHEMA = (schema: string): string => `select
  (select count(*) from ${schema}.nodes) + (select count(*) from ${schema}.ports),
  sum(pg_total_relation_size(oid)) from pg_class where relkind = 'r' and relnamespace = '${schema}'::regnamespace`

function tableOf(seen: readonly Seen[]): Cells {
  const line = (what: string, of: (each: Seen) => string): string[] => [what, ...seen.map(of)]
  const ms = (value: number): string => `${value.toFixed(value < 10 ? 1 : 0)} ms`
  return [
    ['nodes, each with two ports', ...SIZES.map((size) => size.toLocaleString('en'))],
    line('rows of nodes and ports', ({ rows }) => rows.toLocaleString('en')),
    line('on disk, with indexes', ({ disk }) => `${disk.toFixed(0)} MiB`),
    line('enrolled a second', ({ enrolled: { nodes, took } }) => ((nodes / took) * 1000).toFixed(0)),
    line('processor time of ironstage to enrol one', ({ enrolled: { own, nodes } }) => ms(own / nodes)),
    line('processor time of PostgreSQL to enrol one', ({ enrolled: { server, nodes } }) => ms(server / nodes)),
    line('start of a further process', ({ started }) => ms(started)),
    line('memory of that process', ({ memory }) => `${memory.toFixed(0)} MiB`),
    line('page of 1,000 in detail, p50', ({ page }) => ms(page.p50)),
    line('page of 1,000 in detail, p99', ({ page }) => ms(page.p99)),
    line('transactions a lifecycle', ({ lifecycle: each }) => each.commits.toFixed(1)),
    line('rows written a lifecycle', ({ lifecycle: each }) => each.rows.toFixed(1)),
    line('written ahead a lifecycle', ({ lifecycle: each }) => `${each.log.toFixed(0)} KiB`),
    line('processor time of ironstage a lifecycle', ({ lifecycle: each }) => ms(each.own)),
    line('processor time of PostgreSQL a lifecycle', ({ lifecycle: each }) => ms(each.server)),
  ]
}
