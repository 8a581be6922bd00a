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
