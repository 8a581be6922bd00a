import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { median, timed, type Measured } from './measure.js'
import { deployAll, labFor } from './staged.js'
import type { Deployed } from './virtual-time-process.js'

const NODES = 1000
/** Before processor time a node is compared: what all nodes use is compiled then. */
const WARM = 20

/** Whole lifecycles in one process without sockets, on disks without bytes. */
export async function inVirtualTime(): Promise<Measured[]> {
  const one = { peer: null, reach: null, unit: 'ms' } as const
  const many = await timed(() => deployed(NODES))
  await deployed(WARM)
  return [
    { what: '1,000 lifecycles in virtual time', ...one, ours: many, reach: 10_000, runs: 1 },
    { what: 'processor time a node, of 1', ...one, ours: await median(9, () => timeOfNode(1)), runs: 9 },
    { what: 'processor time a node, of 10', ...one, ours: await median(5, () => timeOfNode(10)), runs: 5 },
    await ofHundred(),
    { what: 'processor time a node, of 1,000', ...one, ours: await timeOfNode(NODES), runs: 1 },
  ]
}

/** Part of a quick look. */
export async function ofHundred(): Promise<Measured> {
  await deployed(WARM)
  const ours = await median(3, () => timeOfNode(100))
  return { what: 'processor time a node, of 100', ours, peer: null, reach: null, unit: 'ms', runs: 3 }
}

/** Ten thousand in a process of their own. */
export async function tenThousand(): Promise<Measured[]> {
  const { milliseconds, processor, mib } = await inProcess(10_000)
  const one = { peer: null, runs: 1 } as const
  return [
    { what: '10,000 lifecycles in virtual time', ...one, ours: milliseconds, reach: 60_000, unit: 'ms' },
    { what: 'processor time a node, of 10,000', ...one, ours: processor / 10_000, reach: null, unit: 'ms' },
    { what: 'memory of 10,000 lifecycles, at most', ...one, ours: mib, reach: 1.5 * 1024, unit: 'MiB' },
  ]
}

/** A hundred thousand in a process of their own, beside the processor time of a node among a thousand. */
export async function hundredThousand(): Promise<Measured[]> {
  const thousand = (await inProcess(1000)).processor / 1000
  const { milliseconds, processor, mib } = await inProcess(100_000)
  const one = { peer: null, runs: 1 } as const
  return [
    { what: '100,000 lifecycles in virtual time', ...one, ours: milliseconds, reach: 12 * 60_000, unit: 'ms' },
    {
      what: 'processor time a node, of 100,000',
      ours: processor / 100_000,
      peer: { name: 'of 1,000', value: thousand },
      reach: 1.15 * thousand,
      unit: 'ms',
      runs: 1,
    },
    { what: 'memory of 100,000 lifecycles, at most', ...one, ours: mib, reach: 8 * 1024, unit: 'MiB' },
  ]
}

async function deployed(count: number): Promise<void> {
  await using lab = await labFor(count)
  await deployAll(lab, count)
}

/** Milliseconds of processor time, divided by the nodes. */
async function timeOfNode(count: number): Promise<number> {
  const before = process.cpuUsage()
  await deployed(count)
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000 / count
}

async function inProcess(count: number): Promise<Deployed> {
  const main = fileURLToPath(new URL('./virtual-time-process.js', import.meta.url))
  const child = fork(main, [String(count)], { execArgv: ['--max-old-space-size=8192'] })
  const ended = once(child, 'close').then(([code]) => {
    throw new Error(`the process of ${count} lifecycles ended with ${String(code)}`)
  })
  ended.catch(() => {})
  const [found] = (await Promise.race([once(child, 'message'), ended])) as [Deployed]
  return found
}
