import { copyFile } from 'node:fs/promises'
import { join } from 'node:path'
import { REHEARSAL_IMAGE } from '../../../lab/index.js'
import { fleetIronic } from '../../real/fleet-ironic.js'
import { clock, memoryOf, processorTime, type Measured } from '../measure.js'
import { fleetContender } from './contenders.js'
import { hasFailed, Jobs, restsIn } from './jobs.js'

const MACHINES = 1000
/** Milliseconds after which it ends, whether all are deployed or not: Ironic needs nine seconds of processor time a node. */
const THOUSAND_TIMEOUT = 3 * 3_600_000
/** Machines under way at a time. */
const MAX_PARALLEL_DEPLOYMENTS = 120
/** Between two lines that say how far it is, in milliseconds. */
const PROGRESS_REPORT_INTERVAL = 300_000
/** Between two looks at all nodes, in milliseconds: a list of 1,000 costs Ironic half a second of processor time. */
const POLL_INTERVAL = 10_000

/** The request that follows each state, from `enroll` on. */
const NEXT = {
  enroll: ['manage', 'manageable'],
  manageable: ['inspect', 'manageable'],
  inspected: ['provide', 'available'],
  available: ['active', 'active'],
} as const
type Place = keyof typeof NEXT

/**
 * A fleet of 1,000 machines with one real Ironic: each is registered, verified, inspected by its agent, and installed with
 * CoreOS. On two cores that takes more than an hour.
 */
export async function thousandMachines(): Promise<Measured[]> {
  await using there = await fleetIronic({
    conductor: { automated_clean: 'false', max_concurrent_deploy: MACHINES },
    api: { ramdisk_heartbeat_timeout: 60 },
  })
  await copyFile(REHEARSAL_IMAGE, join(there.folder, 'coreos.raw.xz'))
  await using fleet = await fleetContender(MACHINES, { bootScript: `${there.url}/boot.ipxe` })
  const pid = fleet.pids[0]!
  const jobs = await Jobs.register(there.ironic, fleet, {
    deploy_interface: 'custom-agent',
    inspect_interface: 'agent',
  })
  const ours = await processorTime(pid)
  const theirs = await processorTime(there.ironic.pid)
  const since = performance.now()
  const args = { image_url: `${there.url}/coreos.raw.xz` }
  const steps = { deploy_steps: [{ interface: 'deploy', step: 'install_coreos', priority: 80, args }] }
  const waiting = [...jobs.uuids]
  const under = new Map<string, Place>()
  const failed: string[] = []
  let deployed = 0
  let reported = since
  const begin = async (uuid: string, place: Place): Promise<void> => {
    under.set(uuid, place)
    const [verb] = NEXT[place]
    await jobs.provision(uuid, verb, verb === 'active' ? steps : {})
  }
  const after = (place: Place): Place | undefined =>
    place === 'enroll'
      ? 'manageable'
      : place === 'manageable'
        ? 'inspected'
        : place === 'inspected'
          ? 'available'
          : undefined
  while (performance.now() - since < THOUSAND_TIMEOUT && deployed + failed.length < MACHINES) {
    while (under.size < MAX_PARALLEL_DEPLOYMENTS && waiting.length > 0) await begin(waiting.shift()!, 'enroll')
    await clock.sleep(POLL_INTERVAL)
    const seen = await jobs.seen()
    for (const [uuid, place] of under) {
      const node = seen.get(uuid)!
      if (hasFailed(node)) {
        under.delete(uuid)
        failed.push(`${node.provision_state}: ${node.last_error}`)
      } else if (restsIn(node, NEXT[place][1])) {
        const next = after(place)
        if (next) await begin(uuid, next)
        else {
          under.delete(uuid)
          deployed++
        }
      }
    }
    if (performance.now() - reported < PROGRESS_REPORT_INTERVAL) continue
    reported = performance.now()
    process.stderr.write(`  ${deployed} of ${MACHINES} deployed, ${failed.length} failed\n`)
  }
  const elapsed = performance.now() - since
  const share = (from: number, to: number): number => ((to - from) / elapsed) * 100
  if (failed.length > 0) process.stderr.write(`  ${failed.length} failed, the first: ${failed[0]}\n`)
  const one = { peer: null, reach: null, runs: 1 }
  return [
    { what: 'machines of 1,000 that a real Ironic deployed', ...one, ours: deployed, unit: '' },
    { what: 'minutes that this took', ...one, ours: elapsed / 60_000, unit: '' },
    { what: 'one core, taken by their fleet', ...one, ours: share(ours, await processorTime(pid)), unit: '%' },
    {
      what: 'one core, taken by that Ironic',
      ...one,
      unit: '%',
      ours: share(theirs, await processorTime(there.ironic.pid)),
    },
    { what: 'Pss of their fleet', ...one, ours: await memoryOf(pid), unit: 'MiB' },
  ]
}
