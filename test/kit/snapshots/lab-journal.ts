import { IPA_PACE } from '../../../agent/index.js'
import { createStagedLab, installCoreos, type StagedLab } from '../../../lab/index.js'
import { seededRandom, type VirtualClock } from '../../../base/runtime/index.js'

/** Times of hardware, at which a deployment is spread over many instants. */
export const SPREAD_MACHINE_TIMES = { power: 3000, bootRamdisk: 60_000, bootDisk: 40_000, writeRate: 200e6 }

/**
 * Everything that happens in a lab, a line each: all points of its probe, and its events, with the time.
 *
 * @param added called after each line with their number
 */
export function journalOf(
  lab: Pick<StagedLab, 'clock' | 'probe' | 'events'>,
  added?: (lines: number) => void,
): string[] {
  const lines: string[] = []
  const add = (what: object) => {
    lines.push(`${lab.clock.now()} ${JSON.stringify(what, plain)}`)
    added?.(lines.length)
  }
  lab.probe.attach((point, next) => {
    add(point)
    return next()
  })
  lab.events.listen((event) => {
    if (event.kind !== 'restored') add(event)
  })
  return lines
}

const plain = (_: string, value: unknown): unknown =>
  value instanceof Uint8Array
    ? Buffer.from(value).toString('base64')
    : typeof value === 'bigint'
      ? String(value)
      : value

const deploySteps = [installCoreos({ append_karg: ['quiet'], ignition: { ignition: { version: '3.4.0' } } })]

/** A lab whose two nodes were just asked to deploy, one of them by a machine whose programs take their time. */
export async function deployingLab(added?: (lines: number, lab: StagedLab) => void): Promise<{
  lab: StagedLab<VirtualClock>
  journal: string[]
}> {
  const lab = await createStagedLab({ seed: 7, machinePace: SPREAD_MACHINE_TIMES, agentPace: IPA_PACE })
  const journal = journalOf(lab, (lines) => added?.(lines, lab))
  const nodes = [await lab.enroll({ deploySteps }), await lab.enroll({ deploySteps })]
  const machine = (await nodes[1]!.machine())!.spec.id
  for (const program of ['lsblk', 'udevadm', 'ip', 'ipmitool', 'umount', 'stat', 'ls', 'cat', 'efibootmgr'])
    lab.faults.add({ match: { machine, program }, effect: { kind: 'delay', ms: 300 }, times: 50 })
  await Promise.all(nodes.map((node) => node.deploy()))
  return { lab, journal }
}

const NAMES = ['machine-1', 'machine-2']

/** Waits until the nodes of a {@link deployingLab} are deployed, without a call of the lab; what became of them. */
export async function deployed(lab: StagedLab): Promise<unknown[]> {
  const records = async () => Promise.all(NAMES.map(async (name) => (await lab.store.node(name))!.node))
  const ended = new Promise<void>((resolve) => {
    const look = async () => {
      const nodes = await records()
      if (nodes.every(({ provision_state: state }) => state === 'active' || state.endsWith('failed'))) resolve()
    }
    void look()
    lab.events.listen(() => void look())
  })
  await lab.wait(ended)
  const machines = await Promise.all(NAMES.map(async (name) => (await lab.node(name)).machine()))
  return [...(await records()), ...machines.map((machine) => [machine!.firstBoot(), machine!.journal()])]
}

/** So many different numbers below `limit`, in order. */
export function momentsBelow(limit: number, count: number, seed: number): number[] {
  const random = seededRandom(seed)
  const moments = new Set<number>()
  while (moments.size < Math.min(count, limit)) moments.add(Math.floor(random.next() * limit))
  return [...moments].sort((a, b) => a - b)
}
