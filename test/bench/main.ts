import { againstIronic } from './against-ironic.js'
import { idleAgents } from './idle-agents.js'
import { ignitionConfigs } from './ignition.js'
import { servedImages } from './images.js'
import { installation } from './install.js'
import { table, type Measured } from './measure.js'
import { idleMemory, lifecycles, starts } from './served.js'
import { inVirtualTime } from './virtual-time.js'

const BENCHMARKS: Readonly<Record<string, () => Promise<Measured | Measured[]>>> = {
  ironic: againstIronic,
  start: starts,
  lifecycles,
  memory: idleMemory,
  'idle-agents': idleAgents,
  install: installation,
  ignition: ignitionConfigs,
  images: servedImages,
  'virtual-time': inVirtualTime,
}

/** Runs the benchmarks that are named, all without names, and prints what they measured. Judges nothing. */
const names = process.argv.length > 2 ? process.argv.slice(2) : Object.keys(BENCHMARKS)
const rows: Measured[] = []
for (const name of names) {
  const benchmark = BENCHMARKS[name]
  if (!benchmark) throw new Error(`there is no benchmark ${name}; there is ${Object.keys(BENCHMARKS).join(', ')}`)
  process.stderr.write(`${name} ...\n`)
  rows.push(...[await benchmark()].flat())
}
process.stdout.write(`${table(rows)}\n`)
