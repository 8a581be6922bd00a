import Database from 'libsql'
import { realIronic, type RealIronic } from '../real/ironic.js'
import { Asker } from './asked.js'
import { create, lifecycle, times } from './fake-nodes.js'
import { clock, median, memoryOf, percentile, timed, type Measured } from './measure.js'
import { withUp } from './up.js'

/** One of the two that are measured. */
interface Contender {
  readonly asker: Asker
  readonly pid: number
  /** Makes as many nodes as are missing. */
  fill(count: number): Promise<void>
  /** How much of everything is done: of the one that is quick more, so that both take seconds. */
  readonly much: number
}

interface Figures {
  /** Lifecycles a minute, by how many there are at once. */
  lifecycles: Map<number, number>
  /** By how many nodes there are and what is asked for; milliseconds of the median and of the slowest of a hundred. */
  lists: Map<string, { p50: number; p99: number }>
  memory: number
}

/** Milliseconds without requests after which a server counts as idle; V8 returns memory after 45 s. */
export const REST = 60_000
const AT_ONCE = [1, 8, 32]
const NODES = [100, 1000, 10_000]
const LISTS = { plain: '/v1/nodes', detail: '/v1/nodes?detail=true', page: '/v1/nodes?limit=1000&detail=true' }

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
      using asker = new Asker(url)
      await asker.ask('GET', '/v1/')
      return performance.now() - since
    })
  })
  return [
    row('start to first 200', 'ms', ownStart, startedIn, 1 / 5),
    ...AT_ONCE.map((n) =>
      row(`lifecycles a minute, ${n} at once`, '', ours.lifecycles.get(n)!, theirs.lifecycles.get(n)!, 100),
    ),
    ...[...ours.lists].flatMap(([what, { p50, p99 }]) => {
      const { p50: their50, p99: their99 } = theirs.lists.get(what)!
      const limit =
        what.startsWith('10,000') && what.endsWith('page')
          ? [{ ...row(`${what}, p99`, 'ms', p99, their99, 0.1), reach: 100 }]
          : []
      return [row(`${what}, p50`, 'ms', p50, their50, 0.1), ...limit]
    }),
    row('memory with 1,000 nodes at rest', 'MiB', ours.memory, theirs.memory, 1 / 3),
  ]
}

function row(what: string, unit: Measured['unit'], ours: number, theirs: number, share: number): Measured {
  return { what, unit, ours, peer: { name: 'Ironic', value: theirs }, reach: theirs * share, runs: 1 }
}

async function figures({ asker, pid, fill, much }: Contender): Promise<Figures> {
  using _ = asker
  await times(Math.ceil(20 * much), 8, () => lifecycle(asker))
  const lifecycles = new Map<number, number>()
  for (const atOnce of AT_ONCE) {
    const count = Math.max(atOnce, Math.ceil((atOnce === 1 ? 10 : 30) * much))
    lifecycles.set(atOnce, (count / (await timed(() => times(count, atOnce, () => lifecycle(asker))))) * 60_000)
    progress(`${atOnce} at once: ${Math.round(lifecycles.get(atOnce)!)} a minute`)
  }
  const lists = new Map<string, { p50: number; p99: number }>()
  let memory = 0
  for (const nodes of NODES) {
    await fill(nodes)
    if (nodes === 1000) {
      await clock.sleep(REST)
      memory = await memoryOf(pid)
      progress(`${Math.round(memory)} MiB with ${nodes} nodes`)
    }
    for (const [name, path] of Object.entries(LISTS)) {
      if (name === 'page' && nodes < 10_000) continue
      const what = `${nodes.toLocaleString('en')} nodes, ${name}`
      lists.set(what, await listed(asker, path, Math.ceil(20 * Math.sqrt(much))))
      progress(`${what}: ${lists.get(what)!.p50.toFixed(1)} ms`)
    }
  }
  return { lifecycles, lists, memory }
}

async function listed(asker: Asker, path: string, count: number): Promise<{ p50: number; p99: number }> {
  for (let warming = 0; warming < 3; warming++) await asker.ask('GET', path)
  const values: number[] = []
  for (let n = 0; n < count; n++) values.push(await timed(() => asker.ask('GET', path)))
  return { p50: percentile(values, 50), p99: percentile(values, 99) }
}

/** Nodes of a real Ironic are made by it up to a hundred, and copied in its database beyond: it takes minutes for more. */
async function real(ironic: RealIronic): Promise<Contender> {
  const asker = new Asker(ironic.url)
  const path = /^connection = sqlite:\/\/\/(.*)$/m.exec(ironic.config)![1]!
  let made = 0
  return {
    asker,
    pid: ironic.pid,
    much: 1,
    fill: async (count) => {
      const own = Math.min(count, 100) - made
      if (own > 0) await times(own, 4, () => create(asker))
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
  const asker = new Asker(url)
  let made = 0
  return {
    asker,
    pid,
    much: 40,
    fill: async (count) => {
      await times(count - made, 16, () => create(asker))
      made = count
    },
  }
}

const progress = (text: string): void => void process.stderr.write(`  ${text}\n`)
