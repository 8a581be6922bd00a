import { expect, test } from 'vitest'
import { createStagedLab, type StagedLab } from '../../../lab/create-lab.js'
import { minutes } from '../../../base/runtime/index.js'

/** Two nodes whose BMC is the same one, as when a host was enrolled twice, or stands in a chassis. */

const ADDRESS = '192.0.2.7'

async function labOf(systems: readonly [string, string]) {
  const lab = await createStagedLab()
  const [first, second] = await Promise.all(
    systems.map((system, index) =>
      lab.client.createNode({
        name: `node-${index}`,
        driver: 'redfish',
        driver_info: {
          redfish_address: `http://${ADDRESS}`,
          redfish_system_id: `/redfish/v1/Systems/${system}`,
          redfish_username: 'admin',
          redfish_password: 'password',
        },
      }),
    ),
  )
  return { lab, nodes: [first!.uuid, second!.uuid] as const }
}

/** Ironic asks the BMC of each node. */
async function managed({ lab, nodes }: { lab: StagedLab; nodes: readonly string[] }): Promise<void> {
  for (const uuid of nodes) await lab.client.provision(uuid, 'manage')
  for (const uuid of nodes) await (await lab.node(uuid)).settled()
}

test.each([
  [{ node: 'node-0' }, false],
  [{ node: 'node-1' }, true],
  [{ machine: 'machine-1' }, true],
  [{ node: 'node-1', state: 'verifying' }, true],
] as const)(
  'with one machine of two nodes, a fault of %j strikes a call for the second: %j',
  async (match, strikes) => {
    await using lab = await createStagedLab()
    const first = await lab.enroll({ fields: { name: 'node-0' } })
    await first.makeAvailable()
    const { driver_info } = [...lab.nodes()][0]!
    const second = await lab.client.createNode({ name: 'node-1', driver: 'redfish', driver_info })
    const fault = lab.faults.add({ match: { ...match, bmc: 'read power' }, effect: { kind: 'delay', ms: 1 } })
    await managed({ lab, nodes: [second.uuid] })
    const names = lab.journal.entries({ kind: 'bmc', fault: fault.id }).map(({ name }) => name)
    expect(names.includes('node-1')).toBe(strikes)
  },
)

test.each([
  ['one system', ['blade', 'blade']],
  ['two systems of a chassis', ['blade-1', 'blade-2']],
] as const)('a BMC of %s that goes dark for one node is dark for both, and for no longer', async (_, systems) => {
  const made = await labOf(systems)
  await using lab = made.lab
  const { id } = lab.faults.add({
    match: { node: 'node-0', bmc: 'read power' },
    times: 1,
    effect: { kind: 'bmc-dark', ms: minutes(90) },
  })
  await lab.client.provision('node-0', 'manage')
  expect(await (await lab.node('node-0')).settled()).toMatchObject({ provision_state: 'manageable' })
  await lab.client.provision('node-1', 'manage')
  expect(await (await lab.node('node-1')).settled()).toMatchObject({ provision_state: 'enroll' })
  expect(lab.faults.get(id)).toMatchObject({ struck: 1 })
  await lab.clock.advance(minutes(91))
  await lab.client.provision('node-1', 'manage')
  expect(await (await lab.node('node-1')).settled()).toMatchObject({ provision_state: 'manageable' })
})
