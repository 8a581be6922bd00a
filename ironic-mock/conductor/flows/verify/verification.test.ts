import { describe, expect, test } from 'vitest'
import { manageableNode, ScriptedLab } from '../../../../test/kit/conductor/scripted-lab.js'

describe('verification', () => {
  test('a BMC without a machine', async () => {
    const lab = await ScriptedLab.open()
    const node = await lab.conductor.createNode({
      driver: 'redfish',
      driver_info: { redfish_address: 'http://nowhere' },
    })
    expect(
      await lab.provision(node.uuid, 'manage', 'enroll').then(() => lab.until(node.uuid, (n) => n.last_error !== null)),
    ).toMatchObject({
      provision_state: 'enroll',
      last_error: `Failed to get power state for node ${node.uuid}. Error: nobody answers there`,
    })
  })

  test.each([
    ['redfish', {}, "driver_info: ['redfish_address']"],
    ['redfish', { redfish_address: 'http://' }, 'Invalid redfish address'],
    ['ipmi', {}, "Missing the following IPMI credentials in node's driver_info: ['ipmi_address']."],
  ])('%s with driver_info %o', async (driver, driver_info, problem) => {
    const lab = await ScriptedLab.open()
    const { uuid } = await lab.conductor.createNode({ driver, driver_info })
    await lab.conductor.provision(uuid, { target: 'manage' })
    expect(await lab.node(uuid)).toMatchObject({
      provision_state: 'enroll',
      last_error: expect.stringContaining(problem) as string,
    })
    expect((await lab.conductor.validate(uuid)).power).toMatchObject({ result: false })
  })

  test('the power that was read is kept', async () => {
    const { lab, uuid } = await manageableNode()
    expect(await lab.node(uuid)).toMatchObject({ power_state: 'power off', target_provision_state: null })
  })
})
