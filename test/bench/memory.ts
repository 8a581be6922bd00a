import { readFile } from 'node:fs/promises'
import { clock, memoryOf, REST, type Measured } from './measure.js'
import type { Row } from './rows.js'
import { withUp } from './up.js'

/** How long memory is looked at after enrollment, and how often, in milliseconds. */
const SAMPLING_TIME = 3000
const SAMPLING_INTERVAL = 50

/** Memory of a server whose nodes are idle. */
export async function idleMemory(): Promise<Measured[]> {
  const empty = await resident(0)
  const full = await resident(1000)
  const one = { peer: null, unit: 'MiB', runs: 1 } as const
  const smallest = async (what: Row, nodes: number, reach: number): Promise<Measured> => ({
    what,
    ...one,
    ours: await smallestPss(nodes),
    reach,
  })
  return [
    { what: 'memory at 1,000 idle nodes', ...one, ours: full, peer: { name: 'no nodes', value: empty }, reach: null },
    await smallest('Pss without nodes', 0, 60),
    await smallest('Pss at 1,000 idle nodes', 1000, 75),
    await smallest('Pss at 10,000 idle nodes', 10_000, 180),
  ]
}

/** Resident memory once V8 has returned what it can. */
const resident = (nodes: number): Promise<number> =>
  withUp(nodes, [], async (_, { pid }) => {
    await clock.sleep(REST)
    return Number(/^VmRSS:\s+(\d+)/m.exec(await readFile(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024
  })

/** The smallest proportional share of memory soon after enrollment. */
const smallestPss = (nodes: number): Promise<number> =>
  withUp(nodes, [], async (_, { pid }) => {
    let smallest = Infinity
    for (const until = clock.now() + SAMPLING_TIME; clock.now() < until; await clock.sleep(SAMPLING_INTERVAL))
      smallest = Math.min(smallest, await memoryOf(pid))
    return smallest
  })
