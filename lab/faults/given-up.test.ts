import { expect, test } from 'vitest'
import type { Fault } from '../../control/index.js'
import { createStagedLab } from '../create-lab.js'

/** Effects that make a call wait for longer than its caller does. */
const HOLD_UPS: readonly Fault['effect'][] = [
  { kind: 'hang' },
  { kind: 'delay', ms: 3_600_000 },
  { kind: 'slow-body', bytesPerSecond: 1 },
]

test.each(HOLD_UPS)(
  'Ironic waits for the answer to a command no longer than command_timeout: $kind',
  async (effect) => {
    await using lab = await createStagedLab({
      clock: 'auto',
      ironic: { set: ['agent.command_timeout=20', 'agent.max_command_attempts=2'] },
    })
    const node = await lab.enroll({ fields: { name: 'node-0' } })
    await node.makeAvailable()
    lab.faults.add({ match: { node: 'node-0', route: 'POST /v1/commands' }, effect })
    const began = lab.clock.elapsed()
    await node.deploy()
    const { provision_state: state, last_error: error } = await node.settled()
    expect(state).toBe('deploy failed')
    expect(error).toContain('for invoking command deploy.get_deploy_steps. Error: no answer within 20 s')
    expect(lab.clock.elapsed() - began).toBeLessThan(180_000)
  },
)

test.each<Fault['match']>([{ bmc: 'read power' }, { bmc: 'set boot' }, { route: 'POST /v1/commands' }])(
  'a lab whose Ironic waits at a call that hangs can be closed: %j',
  async (match) => {
    const lab = await createStagedLab({ clock: 'auto' })
    const node = await lab.enroll({ fields: { name: 'node-0' } })
    await node.makeAvailable()
    const { id } = lab.faults.add({ match: { ...match, node: 'node-0' }, effect: { kind: 'hang' } })
    await node.provision('active')
    while (lab.faults.get(id)!.struck === 0) await lab.wait(lab.clock.sleep(100))
    await lab[Symbol.asyncDispose]()
    await expect(lab.client.node(node.uuid)).rejects.toThrow()
  },
  20_000,
)
