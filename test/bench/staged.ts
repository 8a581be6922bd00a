import { createStagedLab, installCoreos, type StagedLab } from '../../lab/index.js'
import type { ThreadedLab, ThreadedNode } from '../../lab/threads/threaded-lab-types.js'
import type { VirtualClock } from '../../base/runtime/index.js'

export const deploySteps = [installCoreos({ ignition: { ignition: { version: '3.4.0' } } })]

/** A lab without sockets that lets so many nodes deploy at once, as an operator of so many would. */
export const labFor = (nodes: number): Promise<StagedLab<VirtualClock>> =>
  createStagedLab({ conf: { maxConcurrentDeploy: nodes, maxConcurrentClean: nodes } })

/** Takes so many new nodes to `active`, `most` of them at once: over half an hour of lab time or more each time. */
export async function deployAll(lab: ThreadedLab, count: number, most = count): Promise<void> {
  for (let left = count; left > 0; left -= most) await atOnce(lab, Math.min(left, most), () => deployed(lab))
}

/** The same, and then undeploys them, so that each is cleaned once more. */
export const liveThrough = (lab: StagedLab, count: number): Promise<void> =>
  atOnce(lab, count, async () => {
    const node = await deployed(lab)
    await node.provision('deleted')
    await rested(node, 'available')
  })

async function atOnce(lab: Pick<ThreadedLab, 'wait'>, count: number, work: () => Promise<unknown>): Promise<void> {
  await lab.wait(Promise.all(Array.from({ length: count }, work)))
}

async function deployed(lab: ThreadedLab): Promise<ThreadedNode> {
  const node = await lab.enroll({ deploySteps })
  await node.deploy()
  await rested(node, 'active')
  return node
}

/** @throws when the node comes to rest in another state */
export async function rested(node: ThreadedNode, wanted: string): Promise<void> {
  const { provision_state: state, last_error: error } = await node.settled()
  if (state !== wanted) throw new Error(`a node ended in ${state}: ${error}`)
}
