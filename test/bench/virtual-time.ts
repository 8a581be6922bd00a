import { createStagedLab, installCoreos } from '../../lab/index.js'
import { timed, type Measured } from './measure.js'

const NODES = 1000

/** Whole lifecycles in one process without sockets, on disks without bytes, over half an hour of lab time or more. */
export async function inVirtualTime(): Promise<Measured> {
  const ours = await timed(async () => {
    // As many at once as an operator of so many nodes would allow.
    await using lab = await createStagedLab({ policy: { maxConcurrentDeploy: NODES, maxConcurrentClean: NODES } })
    const deploySteps = [installCoreos({ ignition: { ignition: { version: '3.4.0' } } })]
    const ends = await lab.wait(
      Promise.all(
        Array.from({ length: NODES }, async () => {
          const node = await lab.enroll({ deploySteps })
          await node.deploy()
          return (await node.settled()).provision_state
        }),
      ),
    )
    if (ends.some((state) => state !== 'active'))
      throw new Error(`some nodes ended in ${[...new Set(ends)].join(', ')}`)
  })
  return { what: '1,000 lifecycles in virtual time', ours, peer: null, reach: 10_000, unit: 'ms', runs: 1 }
}
