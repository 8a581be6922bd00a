import { Session, type Profiler } from 'node:inspector'
import { promisify } from 'node:util'
import { GCProfiler } from 'node:v8'
import { labFor, liveThrough } from '../staged.js'
import type { Cells } from '../measure.js'
import type { Kind } from './counts.js'

const WARM = 20
const PROFILED = 100
const ALLOCATING = 20
const KIB = 1024

/** Work by the folder of the innermost frame that is ours; the first that fits counts. */
const WORK: readonly { work: string; in: readonly string[]; counted?: readonly Kind[] }[] = [
  {
    work: 'exchanges',
    in: ['base/wire/', 'ironic-mock/api/', 'agent/http/', 'lab/control/control-api', 'lab/stage/api-switch'],
    counted: ['API requests', 'agent commands', 'heartbeats and lookups'],
  },
  {
    work: 'commits, and who hears of them',
    in: ['ironic-mock/store/', 'lab/stage/observed-store', 'lab/events', 'lab/lab-node'],
    counted: ['commits of the node'],
  },
  { work: 'the conductor', in: ['ironic-mock/'] },
  { work: 'the agent', in: ['agent/'] },
  { work: 'steps', in: ['steps/'] },
  {
    work: 'commands on the machine',
    in: ['machine/programs/', 'machine/ramdisk/', 'machine/root/', 'targets/'],
    counted: ['commands on the machine'],
  },
  { work: 'disks', in: ['machine/disk/', 'machine/machine-disks'], counted: ['disk reads', 'disk writes'] },
  { work: 'boots, Ignition, the installed system', in: ['machine/', 'ignition/', 'coreos/', 'base/bytes/'] },
  {
    work: 'timers',
    in: ['base/runtime/virtual-clock', 'base/runtime/timer-heap', 'base/runtime/clock'],
    counted: ['timers'],
  },
  { work: 'the rest of base/runtime/ and lab/', in: ['base/runtime/', 'lab/'] },
]
const GARBAGE = 'garbage collection'
const NODE = 'Node: promises and ticks with no code of ours on the stack'

/** Processor time of a lifecycle, warm, by what it goes to: a profile of a hundred at once. */
export async function costs(
  counted: Readonly<Record<Kind, number>>,
): Promise<{ milliseconds: number; runs: number; cells: Cells }> {
  await using lab = await labFor(PROFILED)
  await liveThrough(lab, WARM)
  const { profile, milliseconds } = await profiled(() => liveThrough(lab, PROFILED))
  const shares = sharesOf(profile)
  const line = (work: string, kinds: readonly Kind[] = []): string[] => {
    const share = shares.get(work) ?? 0
    const each = (share * milliseconds) / PROFILED
    const times = kinds.reduce((sum, kind) => sum + counted[kind], 0)
    return [
      work,
      each.toFixed(2),
      `${Math.round(share * 100)} %`,
      times === 0 ? '-' : times.toLocaleString('en'),
      times === 0 ? '-' : Math.round((each / times) * 1000).toLocaleString('en'),
    ]
  }
  const cells = [
    ['processor time', 'ms a lifecycle', 'share', 'times', 'µs each'],
    ...WORK.map(({ work, counted: kinds }) => line(work, kinds)),
    line(GARBAGE),
    line(NODE),
  ]
  return { milliseconds: milliseconds / PROFILED, runs: PROFILED, cells }
}

/** KiB that a lifecycle allocates on the heap of V8, from what is there before and after each collection. */
export async function allocated(): Promise<number> {
  await using lab = await labFor(ALLOCATING)
  await liveThrough(lab, WARM)
  const profiler = new GCProfiler()
  profiler.start()
  let left = process.memoryUsage().heapUsed
  await liveThrough(lab, ALLOCATING)
  const end = process.memoryUsage().heapUsed
  let bytes = 0
  for (const { beforeGC, afterGC } of profiler.stop().statistics) {
    bytes += beforeGC.heapStatistics.usedHeapSize - left
    left = afterGC.heapStatistics.usedHeapSize
  }
  return (bytes + end - left) / ALLOCATING / KIB
}

async function profiled(work: () => Promise<void>): Promise<{ profile: Profiler.Profile; milliseconds: number }> {
  const session = new Session()
  session.connect()
  const post = promisify<string, object | undefined, unknown>(session.post.bind(session))
  try {
    await post('Profiler.enable', undefined)
    await post('Profiler.setSamplingInterval', { interval: 500 })
    await post('Profiler.start', undefined)
    const before = process.cpuUsage()
    await work()
    const { user, system } = process.cpuUsage(before)
    const { profile } = (await post('Profiler.stop', undefined)) as Profiler.StopReturnType
    return { profile, milliseconds: (user + system) / 1000 }
  } finally {
    session.disconnect()
  }
}

/** The share of each work in the samples of a profile, all of which add up to 1. */
function sharesOf({ nodes, samples = [], timeDeltas = [] }: Profiler.Profile): Map<string, number> {
  const parents = new Map(nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id] as const)))
  const byId = new Map(nodes.map((node) => [node.id, node]))
  const works = new Map<number, string | undefined>()
  for (const { id, callFrame } of nodes) {
    if (callFrame.functionName === '(garbage collector)') works.set(id, GARBAGE)
    else if (callFrame.functionName === '(idle)') works.set(id, undefined)
    else {
      let at: number | undefined = id
      let work: string | undefined
      for (; at !== undefined && !work; at = parents.get(at)) work = workIn(byId.get(at)!.callFrame.url)
      works.set(id, work ?? NODE)
    }
  }
  const shares = new Map<string, number>()
  let all = 0
  samples.forEach((id, n) => {
    const work = works.get(id)
    if (!work) return
    all += timeDeltas[n] ?? 0
    shares.set(work, (shares.get(work) ?? 0) + (timeDeltas[n] ?? 0))
  })
  for (const [work, time] of shares) shares.set(work, time / all)
  return shares
}

function workIn(url: string): string | undefined {
  const path = /\/dist\/(?!test\/)(.*)$/.exec(url)?.[1]
  return path && WORK.find((work) => work.in.some((folder) => path.startsWith(folder)))?.work
}
