import { createHook } from 'node:async_hooks'
import type { StagedLab, StagedNode } from '../../../lab/index.js'
import type { ProbePoint, VirtualClock } from '../../../base/runtime/index.js'
import { isExchange } from '../../../base/wire/index.js'
import { describedDisk } from '../../../machine/disk/described-disk.js'
import type { SimulatedDisk } from '../../../machine/disk/block-device.js'
import type { Cells, Measured, Outcome } from '../measure.js'
import type { Row } from '../rows.js'
import { deploySteps, labFor, rested } from '../staged.js'
import { allocated, costs } from './costs.js'

/** Kinds that are counted, and the row of the total. */
const COUNTED = {
  'API requests': 'API requests a lifecycle',
  'agent commands': 'agent commands a lifecycle',
  'heartbeats and lookups': 'heartbeats and lookups a lifecycle',
  'commands on the machine': 'commands on the machine a lifecycle',
  'commits of the node': 'commits of the node a lifecycle',
  'disk reads': 'disk reads a lifecycle',
  'disk writes': 'disk writes a lifecycle',
  timers: 'timers a lifecycle',
  promises: 'promises a lifecycle',
} as const satisfies Record<string, Row>

export type Kind = keyof typeof COUNTED
type Counts = Record<Kind, number>
const KINDS = Object.keys(COUNTED) as Kind[]

/** The parts of one lifecycle, in order. */
const PARTS = {
  'enroll to available': (node: StagedNode) => node.makeAvailable().then(() => rested(node, 'available')),
  'to active': (node: StagedNode) => node.deploy().then(() => rested(node, 'active')),
  'deleted and cleaned': (node: StagedNode) => node.provision('deleted').then(() => rested(node, 'available')),
} as const

/** Counts what one lifecycle does. */
export async function counts(): Promise<Outcome & { total: Counts }> {
  await using lab = await labFor(1)
  // The first one reads what all of them share.
  await lifecycle(lab, () => noCounts())
  const promises = await lifecycle(lab, () => countPromises())
  const others = await lifecycle(lab, () => countPoints(lab))
  const parts = others.map((part, n): Counts => ({ ...part, promises: promises[n]!.promises }))
  const total = Object.fromEntries(KINDS.map((kind) => [kind, parts.reduce((sum, part) => sum + part[kind], 0)]))
  const rows = KINDS.map((kind): Measured => count(COUNTED[kind], total[kind]!))
  rows.push({ ...count('allocated a lifecycle', await allocated()), unit: 'KiB', runs: 20 })
  const text = (value: number): string => value.toLocaleString('en')
  const cells: Cells = [
    ['a lifecycle', ...Object.keys(PARTS), 'all'],
    ...KINDS.map((kind) => [kind, ...parts.map((part) => text(part[kind])), text(total[kind]!)]),
  ]
  return { rows, more: [cells], total: total as Counts }
}

/** The same, and the processor time that each kind of work takes. */
export async function countsAndCosts(): Promise<Outcome> {
  const { rows, more = [], total } = await counts()
  const { milliseconds, runs, cells } = await costs(total)
  const time: Measured = { ...count('processor time a lifecycle', milliseconds), unit: 'ms', runs }
  return { rows: [...rows, time], more: [...more, cells] }
}

const count = (what: Row, ours: number): Measured => ({ what, ours, peer: null, reach: null, unit: '', runs: 1 })

/** Runs one lifecycle, and returns the counts of its parts. */
async function lifecycle(lab: StagedLab, start: () => Counting): Promise<Counts[]> {
  const found: Counts[] = []
  let node: StagedNode | undefined
  for (const part of Object.values(PARTS)) {
    using counting = start()
    await lab.wait(
      (node === undefined ? lab.enroll({ deploySteps }) : Promise.resolve(node)).then((made) => part((node = made))),
    )
    found.push({ ...counting.counts })
  }
  return found
}

interface Counting extends Disposable {
  counts: Counts
}

const zeros = (): Counts => Object.fromEntries(KINDS.map((kind) => [kind, 0])) as Counts

const noCounts = (): Counting => ({ counts: zeros(), [Symbol.dispose]: () => {} })

/** Alone, since a watched probe makes promises of its own. */
function countPromises(): Counting {
  const counts = zeros()
  const hook = createHook({ init: (_, type) => void (type === 'PROMISE' && counts.promises++) }).enable()
  return { counts, [Symbol.dispose]: () => void hook.disable() }
}

function countPoints(lab: StagedLab<VirtualClock>): Counting {
  const counts = zeros()
  const attached = lab.probe.attach((point, next) => {
    const kind = kindOf(point)
    if (kind) counts[kind]++
    return next()
  }, POINTS)
  const listening = lab.events.listen(({ kind }) => void (kind === 'node' && counts['commits of the node']++))
  // Timers pass no probe: those of the lab's clock are counted where they are set, by sleeps too.
  const { clock } = lab
  const timer = clock.timer.bind(clock)
  clock.timer = (...options) => {
    counts.timers++
    return timer(...options)
  }
  const { read } = DISK
  DISK.read = function (...range) {
    counts['disk reads']++
    return read.apply(this, range)
  }
  return {
    counts,
    [Symbol.dispose]: () => {
      attached[Symbol.dispose]()
      listening[Symbol.dispose]()
      clock.timer = timer
      DISK.read = read
    },
  }
}

/** Described disks, for which this one stands: while the probe watches reads, each is made that would be saved. */
const DISK = Object.getPrototypeOf(describedDisk({ name: 'sda', size: 4096, sectorSize: 512 })) as SimulatedDisk

const POINTS = ['exchange', 'command', 'disk-write']

/** The kind of a point; an exchange between two parties of the lab is counted once, where it is sent. */
function kindOf(point: ProbePoint): Kind | undefined {
  if (isExchange(point)) {
    if (point.side === 'server' || point.to === 'images') return undefined
    if (point.to === 'agent') return 'agent commands'
    return point.from === 'agent' ? 'heartbeats and lookups' : 'API requests'
  }
  return point.kind === 'command' ? 'commands on the machine' : 'disk writes'
}
