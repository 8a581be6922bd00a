import { expect, test } from 'vitest'
import { createStagedLab } from '../create-lab.js'
import type { Fault } from '../../control/index.js'

/** A node as BareMetal Operator registers one, whose machine is made when it first uses its BMC. */
const HOST = {
  name: 'lab~ilo',
  driver: 'redfish',
  driver_info: {
    redfish_address: 'https://10.0.0.24',
    redfish_system_id: '/redfish/v1/Systems/1',
    redfish_username: 'admin',
    redfish_password: 'secret',
  },
}

test.each<[string, Fault['match']]>([
  ['node lab~ilo', { node: 'lab~ilo', bmc: 'set boot' }],
  ['machine 10.0.0.24-1', { machine: '10.0.0.24-1', bmc: 'set boot' }],
])('a fault waits for %s, and strikes it from the first call', async (waitsFor, match) => {
  await using lab = await createStagedLab({ ironic: { profile: 'metal3' } })
  const { id } = lab.faults.add({ match, effect: { kind: 'bmc-lies' }, label: 'early' })
  expect(lab.faults.list()).toEqual([{ id, match, effect: { kind: 'bmc-lies' }, label: 'early', struck: 0, waitsFor }])

  const { uuid } = await lab.client.createNode(HOST)
  await lab.client.createPort({ node_uuid: uuid, address: '52:54:00:b0:00:05' })
  await lab.wait(lab.client.provision(uuid, 'manage').then(() => lab.client.waitFor(uuid, ['manageable'])))
  expect(lab.faults.get(id)).toMatchObject({ struck: 0 })
  await lab.client.provision(uuid, 'inspect')
  await lab.wait(lab.client.waitFor(uuid, ['manageable', 'inspect failed']))

  expect(lab.faults.get(id)?.struck).toBeGreaterThan(0)
  expect(lab.faults.get(id)).not.toHaveProperty('waitsFor')
})

test('a fault of a node that is there waits for nothing, and one of a misspelt name is refused as before', async () => {
  await using lab = await createStagedLab()
  await lab.enroll({ fields: { name: 'node-0' } })
  const { id } = lab.faults.add({ match: { node: 'node-0' }, effect: { kind: 'agent-silent' } })
  expect(lab.faults.get(id)).not.toHaveProperty('waitsFor')
  for (const match of [{ node: 'node-1' }, { machine: 'machine-7' }, { node: 'lab~' }])
    expect(() => lab.faults.add({ match, effect: { kind: 'agent-silent' } })).toThrow('so the fault could never strike')
})
