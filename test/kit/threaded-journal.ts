import { expect } from 'vitest'
import { installCoreos } from '../../lab/index.js'
import type { LabEvent } from '../../lab/lab-events.js'
import { createThreadedLab } from '../../lab/threads/threaded-lab.js'
import type { ThreadedLabOptions } from '../../lab/threads/threaded-lab-types.js'

const deploySteps = [installCoreos()]

/** Deploys nodes of four shards, a few of them after others, with a fault and a node that is enrolled later. */
export async function threadedJournal(options: ThreadedLabOptions): Promise<[at: number, event: LabEvent][]> {
  await using lab = await createThreadedLab(options, { shardSize: 3 })
  const events: [number, LabEvent][] = []
  lab.events.listen((event, at) => events.push([at, event]))
  const nodes = await Promise.all(Array.from({ length: 10 }, () => lab.enroll({ deploySteps })))
  lab.faults.add({ match: { node: nodes[4]!.uuid, phase: 'install' }, effect: { kind: 'agent-silent' } })
  const others = nodes.slice(0, 6).map(async (node) => {
    await node.deploy()
    return node.settled()
  })
  await Promise.race(others)
  await Promise.all(nodes.slice(6).map((node) => node.makeAvailable()))
  const late = await lab.enroll({ deploySteps, fields: { name: 'late' } })
  await late.deploy()
  const ends = await Promise.all([...others, late.settled()])
  expect(ends.filter(({ provision_state: state }) => state === 'deploy failed')).toHaveLength(1)
  expect(ends.filter(({ provision_state: state }) => state === 'active')).toHaveLength(6)
  return events
}
