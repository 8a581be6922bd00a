import type { Executor } from '../../targets/index.js'
import { namesIn, readSysfsText } from './sysfs.js'

const NODES = '/sys/devices/system/node'

export interface NumaTopology {
  ram: { numa_node: number; size_kb: number }[]
  cpus: { cpu: number; numa_node: number; thread_siblings: number[] }[]
  nics: { name: string; numa_node: number }[]
}

/**
 * Memory, cores and NICs by NUMA node. A core stands for its threads.
 *
 * @throws Error on a machine whose kernel knows of no NUMA nodes
 */
export async function numaTopology(executor: Executor): Promise<NumaTopology> {
  const numbers = (await namesIn(executor, NODES)).flatMap((name) => /^node(\d+)$/.exec(name)?.[1] ?? []).map(Number)
  if (numbers.length === 0) throw new Error(`no NUMA nodes in ${NODES}`)
  const topology: NumaTopology = { ram: [], cpus: [], nics: [] }
  for (const node of numbers.sort((a, b) => a - b)) {
    const meminfo = (await readSysfsText(executor, `${NODES}/node${node}/meminfo`)) ?? ''
    topology.ram.push({ numa_node: node, size_kb: Number(/MemTotal:\s+(\d+) kB/.exec(meminfo)?.[1] ?? 0) })
    topology.cpus.push(...(await cores(executor, node)))
  }
  for (const name of await namesIn(executor, '/sys/class/net')) {
    const node = await readSysfsText(executor, `/sys/class/net/${name}/device/numa_node`)
    if (node !== null) topology.nics.push({ name, numa_node: Number(node) })
  }
  return topology
}

async function cores(executor: Executor, node: number): Promise<NumaTopology['cpus']> {
  const byCore = new Map<string, NumaTopology['cpus'][number]>()
  const threads = (await namesIn(executor, `${NODES}/node${node}`)).flatMap(
    (name) => /^cpu(\d+)$/.exec(name)?.[1] ?? [],
  )
  for (const thread of threads.map(Number).sort((a, b) => a - b)) {
    const topology = `${NODES}/node${node}/cpu${thread}/topology`
    const core = Number((await readSysfsText(executor, `${topology}/core_id`)) ?? thread)
    const socket = (await readSysfsText(executor, `${topology}/physical_package_id`)) ?? '0'
    const known = byCore.get(`${socket}/${core}`)
    if (known) known.thread_siblings.push(thread)
    else byCore.set(`${socket}/${core}`, { cpu: core, numa_node: node, thread_siblings: [thread] })
  }
  return [...byCore.values()]
}
