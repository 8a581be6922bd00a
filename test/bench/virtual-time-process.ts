import { availableParallelism } from 'node:os'
import { createThreadedLab } from '../../lab/threads/threaded-lab.js'
import { timed } from './measure.js'
import { deployAll } from './staged.js'

/** Lifecycles of one process, in a lab with a thread for each core. */
export interface Deployed {
  milliseconds: number
  /** Milliseconds of processor time of all threads. */
  processor: number
  /** The most memory that was resident. */
  mib: number
}

/** Nodes that are under way at most: an operator deploys thousands a part at a time. */
const AT_A_TIME = 500

const count = Number(process.argv[2])
const before = process.cpuUsage()
const milliseconds = await timed(async () => {
  await using lab = await createThreadedLab({ threads: availableParallelism() })
  await deployAll(lab, count, AT_A_TIME)
})
const { user, system } = process.cpuUsage(before)
const found: Deployed = {
  milliseconds,
  processor: (user + system) / 1000,
  mib: process.resourceUsage().maxRSS / 1024,
}
process.send!(found, () => process.disconnect())
