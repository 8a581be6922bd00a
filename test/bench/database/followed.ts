import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { addressOf, openMemberStore, type SharedStore } from '../../kit/members/member-cluster.js'
import { node } from '../../kit/store-records.js'
import { clock, percentile, type Measured } from '../measure.js'
import type { DatabaseBench } from './contenders.js'
import { hostTime, type FollowedReading } from './followed-reader.js'

const CHANGES = 1000
/** Milliseconds between two changes. */
const PACE = 10
/** Nodes that are changed one after another. */
const NODES = 50

const READER = fileURLToPath(new URL('followed-reader.js', import.meta.url))

/** How late a process hears of what another has acknowledged, and what a request waits for that asks first. */
export async function followedChanges(bench: DatabaseBench): Promise<Measured[]> {
  const { scope } = bench
  const address = addressOf(bench.server, bench.newSchema())
  const writer = scope.use(await openMemberStore(address, 'writer', clock))
  for (let each = 0; each < NODES; each++) await writer.createNode(node(`node-${each}`))
  const reader = fork(READER, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  scope.onClose(() => void reader.kill())
  const ready = heardFrom(reader)
  reader.send(address)
  await ready
  const acknowledged = await changesMade(writer)
  const reading = heardFrom(reader)
  reader.send('stop')
  const { seen, asked } = (await reading) as FollowedReading
  const late = seen.flatMap(([description, at]) => {
    const since = acknowledged.get(description)
    // A change may be seen before the writer has its own answer.
    return since === undefined ? [] : [Math.max(0, at - since)]
  })
  return [
    row('a change seen in another process, p50', percentile(late, 50)),
    row('a change seen in another process, p99', percentile(late, 99), 10),
    row('what others committed, asked before a request, p50', percentile(asked, 50)),
    row('what others committed, asked before a request, p99', percentile(asked, 99), 1),
  ]
}

async function heardFrom(child: ChildProcess): Promise<unknown> {
  const [message] = (await once(child, 'message')) as [unknown]
  return message
}

/** When each change was acknowledged, by the description that it gave a node. */
async function changesMade(writer: SharedStore): Promise<ReadonlyMap<string, number>> {
  const acknowledged = new Map<string, number>()
  const began = performance.now()
  for (let change = 0; change < CHANGES; change++) {
    await clock.sleep(Math.max(0, began + change * PACE - performance.now()))
    const uuid = `node-${change % NODES}`
    const description = String(change)
    await writer.commit({
      node: uuid,
      expect: writer.records.nodes.get(uuid)!.revision,
      patch: { description },
    })
    acknowledged.set(description, hostTime())
  }
  return acknowledged
}

const row = (what: Measured['what'], ours: number, reach: number | null = null): Measured => ({
  what,
  ours,
  peer: null,
  reach,
  unit: 'ms',
  runs: CHANGES,
})
