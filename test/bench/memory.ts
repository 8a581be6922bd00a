import { readFile } from 'node:fs/promises'
import { clock, memoryOf, REST, type Measured } from './measure.js'
import type { Row } from './rows.js'
import { withUp } from './up.js'

/** Milliseconds after enrollment at which a server without requests is at rest. */
const TIME_TO_REST = 30_000

/** Memory of a server whose nodes are idle. */
export async function idleMemory(): Promise<Measured[]> {
  const empty = await resident(0)
  const full = await resident(1000)
  const one = { peer: null, unit: 'MiB', runs: 1 } as const
  const resting = async (what: Row, nodes: number, reach: number): Promise<Measured> => ({
    what,
    ...one,
    ours: await restingPss(nodes),
    reach,
  })
  return [
    { what: 'memory at 1,000 idle nodes', ...one, ours: full, peer: { name: 'no nodes', value: empty }, reach: null },
    await resting('Pss without nodes', 0, 50),
    await resting('Pss at 1,000 idle nodes', 1000, 70),
    await resting('Pss at 10,000 idle nodes', 10_000, 150),
  ]
}

/** Resident memory once V8 has returned what it can. */
const resident = (nodes: number): Promise<number> =>
  withUp(nodes, [], async (_, { pid }) => {
    await clock.sleep(REST)
    return Number(/^VmRSS:\s+(\d+)/m.exec(await readFile(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024
  })

/** The proportional share of memory of a server at rest. */
const restingPss = (nodes: number): Promise<number> =>
  withUp(nodes, [], async (_, { pid }) => {
    await clock.sleep(TIME_TO_REST)
    return memoryOf(pid)
  })
