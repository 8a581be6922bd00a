import { randomUuid, systemRandom } from '../../../base/runtime/index.js'
import { addressOf, nodesOf, openMember, type OpenMember } from '../../kit/members/member-cluster.js'
import { clock, median, type Measured } from '../measure.js'
import type { DatabaseBench } from './contenders.js'

const RUNS = 5
const NODES = nodesOf(Array.from({ length: 600 }, () => randomUuid(systemRandom)))
/** Milliseconds between looks at the owners. */
const LOOK = 2

/** How soon the nodes of a process are another's after its connection has ended, as that of a killed one does. */
export async function takeOver(bench: DatabaseBench): Promise<Measured> {
  const address = addressOf(bench.server, bench.newSchema())
  const first = bench.scope.use(await openMember(address, { host: 'conductor-0' }))
  let opened = 0
  const ours = await median(RUNS, async () => {
    const second = await openMember(address, { host: `conductor-${++opened}` })
    while (!NODES.every((node) => owns(second, node) || owns(first, node)) || hasAll(first)) await clock.sleep(LOOK)
    const since = performance.now()
    second.store.abandon()
    while (!hasAll(first)) await clock.sleep(LOOK)
    return performance.now() - since
  })
  return { what: 'the nodes of a killed process are another’s', ours, peer: null, reach: 100, unit: 'ms', runs: RUNS }
}

const owns = ({ members }: OpenMember, node: (typeof NODES)[number]): boolean => members.owns(node)

const hasAll = (member: OpenMember): boolean => NODES.every((node) => owns(member, node))
