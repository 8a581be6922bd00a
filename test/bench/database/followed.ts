import { addressOf, openMemberStore, type SharedStore } from '../../kit/members/member-cluster.js'
import { node } from '../../kit/store-records.js'
import { clock, percentile, type Measured } from '../measure.js'
import type { DatabaseBench } from './contenders.js'

const CHANGES = 1000
/** Milliseconds between two changes. */
const PACE = 10
/** Nodes that are changed one after another. */
const NODES = 50

/** How late one store hears of what another has acknowledged, and what a request waits for that asks first. */
export async function followedChanges(bench: DatabaseBench): Promise<Measured[]> {
  const { scope } = bench
  const address = addressOf(bench.server, bench.newSchema())
  const writer = scope.use(await openMemberStore(address, 'writer', clock))
  const reader = scope.use(await openMemberStore(address, 'reader', clock))
  for (let each = 0; each < NODES; each++) await writer.createNode(node(`node-${each}`))
  const asked: number[] = []
  const stop = new AbortController()
  const asking = askAgain(reader, asked, stop.signal)
  const seen = await changesSeen(writer, reader)
  stop.abort()
  await asking
  return [
    row('a change seen in another process, p50', percentile(seen, 50)),
    row('a change seen in another process, p99', percentile(seen, 99), 10),
    row('what others committed, asked before a request, p50', percentile(asked, 50)),
    row('what others committed, asked before a request, p99', percentile(asked, 99), 1),
  ]
}

/** Milliseconds from the acknowledgement of each change until the other store has it, by notification alone. */
async function changesSeen(writer: SharedStore, reader: SharedStore): Promise<number[]> {
  const acknowledged = new Map<string, number>()
  const late: number[] = []
  using _watching = reader.others!.watchFollowed((nodes) => {
    for (const uuid of nodes) {
      const at = acknowledged.get(uuid)
      // A notification may come before the writer's own answer.
      late.push(at === undefined ? 0 : performance.now() - at)
      acknowledged.delete(uuid)
    }
  })
  const began = performance.now()
  for (let change = 0; change < CHANGES; change++) {
    await clock.sleep(Math.max(0, began + change * PACE - performance.now()))
    const uuid = `node-${change % NODES}`
    await writer.commit({
      node: uuid,
      expect: writer.records.nodes.get(uuid)!.revision,
      patch: { description: String(change) },
    })
    acknowledged.set(uuid, performance.now())
  }
  return late
}

async function askAgain(reader: SharedStore, asked: number[], signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const since = performance.now()
    await reader.others!.catchUp()
    asked.push(performance.now() - since)
    await clock.sleep(PACE)
  }
}

const row = (what: Measured['what'], ours: number, reach: number | null = null): Measured => ({
  what,
  ours,
  peer: null,
  reach,
  unit: 'ms',
  runs: CHANGES,
})
