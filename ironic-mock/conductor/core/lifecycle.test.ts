import { expect, test } from 'vitest'
import { ScriptedLab } from '../../../test/kit/conductor/scripted-lab.js'

const STEP = { interface: 'deploy', step: 'install_coreos', priority: 80, args: {} }

test('a node goes from enroll to active through install_coreos, and back', async () => {
  await using lab = await ScriptedLab.open()
  const { uuid, machine } = await lab.enroll()

  await lab.provision(uuid, 'manage', 'manageable')
  await lab.provision(uuid, 'inspect', 'manageable')
  await lab.provision(uuid, 'provide', 'available')
  const active = await lab.provision(uuid, 'active', 'active', {
    deploy_steps: [STEP],
    configdrive: { user_data: { ignition: { version: '3.2.0' } } },
  })

  expect(active).toMatchObject({
    power_state: 'power on',
    target_provision_state: null,
    last_error: null,
    reservation: null,
  })
  expect(machine.boots).toEqual(['ramdisk', 'ramdisk', 'ramdisk', 'disk'])
  expect(machine.sent.map(({ name }) => name)).toEqual([
    'clean.get_clean_steps',
    'clean.execute_clean_step',
    'deploy.get_deploy_steps',
    'deploy.execute_deploy_step',
    'standby.power_off',
  ])
  await lab.provision(uuid, 'deleted', 'available')
  expect(lab.states(uuid)).toEqual([
    'verifying',
    'manageable',
    'inspecting',
    'inspect wait',
    'inspecting',
    'manageable',
    'cleaning',
    'clean wait',
    'cleaning',
    'clean wait',
    'cleaning',
    'available',
    'deploying',
    'wait call-back',
    'deploying',
    'wait call-back',
    'deploying',
    'active',
    'deleting',
    'cleaning',
    'clean wait',
    'cleaning',
    'clean wait',
    'cleaning',
    'available',
  ])
})

test('state, power, step and lock change together', async () => {
  await using lab = await ScriptedLab.open()
  const { uuid } = await lab.enroll({ automated_clean: false })
  await lab.provision(uuid, 'manage', 'manageable')
  await lab.provision(uuid, 'provide', 'available')
  await lab.provision(uuid, 'active', 'active', { deploy_steps: [STEP] })
  const records = lab.seen.filter((item) => item.uuid === uuid).map(({ node }) => node)
  const firstIn = (state: string) =>
    records.filter((node, index) => node.provision_state === state && records[index - 1]?.provision_state !== state)

  // The lock begins with the work, and ends with it.
  for (const state of ['verifying', 'deploying'])
    for (const node of firstIn(state)) expect(node.reservation, state).not.toBeNull()
  for (const state of ['manageable', 'available', 'wait call-back', 'active'])
    for (const node of firstIn(state)) expect(node.reservation, state).toBeNull()
  for (const node of firstIn('active'))
    expect(node).toMatchObject({ power_state: 'power on', target_power_state: null, deploy_step: {} })
})
