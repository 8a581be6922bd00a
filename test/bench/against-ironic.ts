import Database from 'libsql'
import { realIronic, type RealIronic } from '../real/ironic.js'
import { BenchClient } from './bench-client.js'
import { create, lifecycle, times } from './fake-nodes.js'
import { listed, type Latency } from './lists.js'
import { clock, median, memoryOf, percentile, REST, timed, type Measured } from './measure.js'
import type { Row } from './rows.js'
import { withUp } from './up.js'

/** One of the two that are measured. */
interface Contender {
  readonly client: BenchClient
  readonly pid: number
  /** Makes as many nodes as are missing. */
  fill(count: number): Promise<void>
  /** How much of everything is done: of the one that is quick more, so that both take seconds. */
  readonly much: number
}

interface Figures {
  /** Lifecycles a minute, by how many there are at once. */
  lifecycles: Map<number, number>
  /** Milliseconds that 99 of 100 requests of these take at most. */
  slowest: Map<number, number>
  lists: Map<(typeof LISTS)[number]['what'], Latency>
  memory: number
}

const PARALLEL_DEPLOYMENTS = [1, 8, 32] as const
/** Lists by the number of nodes that there are. */
const LISTS = [
  { nodes: 100, what: '100 nodes, plain', path: '/v1/nodes' },
  { nodes: 100, what: '100 nodes, detail', path: '/v1/nodes?detail=true' },
  { nodes: 1000, what: '1,000 nodes, plain', path: '/v1/nodes' },
  { nodes: 1000, what: '1,000 nodes, detail', path: '/v1/nodes?detail=true' },
  { nodes: 10_000, what: '10,000 nodes, plain', path: '/v1/nodes' },
  { nodes: 10_000, what: '10,000 nodes, detail', path: '/v1/nodes?detail=true' },
  { nodes: 10_000, what: '10,000 nodes, page', path: '/v1/nodes?limit=1000&detail=true' },
] as const

/**
 * The same client asks a real Ironic and ours for the same, one after the other in one run: lives of nodes with fake
 * hardware, lists, and what a thousand nodes take at rest.
 */
export async function againstIronic(): Promise<Measured[]> {
  const [startedIn, theirs] = await (async () => {
    await using ironic = await realIronic({ DEFAULT: { enabled_hardware_types: 'fake-hardware' } })
    return [ironic.startedIn, await figures(await real(ironic))] as const
  })()
  const ours = await withUp(0, ['--profile', 'upstream'], (url, { pid }) => figures(mine(url, pid)))
  const ownStart = await median(5, async () => {
    const since = performance.now()
    return withUp(0, [], async (url) => {
      using client = new BenchClient(url)
      await client.ask('GET', '/v1/')
      return performance.now() - since
    })
  })
  const p99 = (what: Row, own: number, other: number, limit: number): Measured => ({
    ...row(what, 'ms', own, other, 0.1),
    reach: limit,
  })
  const page = '10,000 nodes, page'
  return [
    row('start to first 200, against Ironic', 'ms', ownStart, startedIn, 1 / 5),
    ...PARALLEL_DEPLOYMENTS.map((n) =>
      row(`lifecycles a minute, ${n} at once`, '', ours.lifecycles.get(n)!, theirs.lifecycles.get(n)!, 100),
    ),
    ...([8, 32] as const).map((n) =>
      p99(`request of ${n} lifecycles at once, p99`, ours.slowest.get(n)!, theirs.slowest.get(n)!, 200),
    ),
    ...LISTS.map(({ what }) => row(`${what}, p50`, 'ms', ours.lists.get(what)!.p50, theirs.lists.get(what)!.p50, 0.1)),
    p99(`${page}, p99`, ours.lists.get(page)!.p99, theirs.lists.get(page)!.p99, 60),
    row('memory with 1,000 nodes at rest', 'MiB', ours.memory, theirs.memory, 1 / 3),
  ]
}

function row(what: Row, unit: Measured['unit'], ours: number, theirs: number, share: number): Measured {
  return { what, unit, ours, peer: { name: 'Ironic', value: theirs }, reach: theirs * share, runs: 1 }
}

async function figures({ client, pid, fill, much }: Contender): Promise<Figures> {
  using _ = client
  await times(Math.ceil(20 * much), 8, () => lifecycle(client))
  const lifecycles = new Map<number, number>()
  const slowest = new Map<number, number>()
  for (const atOnce of PARALLEL_DEPLOYMENTS) {
    const count = Math.max(atOnce, Math.ceil((atOnce === 1 ? 10 : 30) * much))
    client.took.length = 0
    lifecycles.set(atOnce, (count / (await timed(() => times(count, atOnce, () => lifecycle(client))))) * 60_000)
    slowest.set(atOnce, percentile(client.took, 99))
    progress(`${atOnce} at once: ${Math.round(lifecycles.get(atOnce)!)} a minute`)
  }
  const lists: Figures['lists'] = new Map()
  let memory = 0
  let filled = 0
  for (const { nodes, what, path } of LISTS) {
    if (filled !== nodes) await fill((filled = nodes))
    if (nodes === 1000 && memory === 0) {
      await clock.sleep(REST)
      memory = await memoryOf(pid)
      progress(`${Math.round(memory)} MiB with ${nodes} nodes`)
    }
    lists.set(what, await listed(client, path, Math.ceil(20 * Math.sqrt(much))))
    progress(`${what}: ${lists.get(what)!.p50.toFixed(1)} ms`)
  }
  return { lifecycles, slowest, lists, memory }
}

/** Nodes of a real Ironic are made by it up to a hundred, and copied in its database beyond: it takes minutes for more. */
async function real(ironic: RealIronic): Promise<Contender> {
  const client = new BenchClient(ironic.url)
  const path = /^connection = sqlite:\/\/\/(.*)$/m.exec(ironic.config)![1]!
  let made = 0
  return {
    client,
    pid: ironic.pid,
    much: 1,
    fill: async (count) => {
      const own = Math.min(count, 100) - made
      if (own > 0) await times(own, 4, () => create(client))
      made = Math.max(made, Math.min(count, 100))
      if (count > made) {
        multiply(path, count - made)
        made = count
      }
    },
  }
}

function multiply(path: string, count: number): void {
  const db = new Database(path)
  try {
    db.exec('PRAGMA busy_timeout = 10000')
    const columns = (db.prepare('PRAGMA table_info(nodes)').all() as { name: string }[]).map(({ name }) => name)
    const copied = columns.filter((name) => !['id', 'uuid', 'name', 'instance_uuid'].includes(name)).join(', ')
    const uuid = `lower(hex(randomblob(4)) || '-' || hex(randomblob(2)) || '-4' || substr(hex(randomblob(2)), 2) || '-8' || substr(hex(randomblob(2)), 2) || '-' || hex(randomblob(6)))`
    const copy = db.prepare(
      `INSERT INTO nodes (uuid, ${copied}) SELECT ${uuid}, ${copied} FROM nodes ORDER BY id LIMIT 1`,
    )
    db.transaction(() => {
      for (let n = 0; n < count; n++) copy.run()
    })()
  } finally {
    db.close()
  }
}

function mine(url: string, pid: number): Contender {
  const client = new BenchClient(url)
  let made = 0
  return {
    client,
    pid,
    much: 40,
    fill: async (count) => {
      await times(count - made, 16, () => create(client))
      made = count
    },
  }
}

const progress = (text: string): void => void process.stderr.write(`  ${text}\n`)
