import { expect, test } from 'vitest'
import { ScriptedLab } from '../../../test/kit/conductor/scripted-lab.js'
import { ERASE } from '../../../test/kit/conductor/scripted-machine.js'

const INSTALL = { interface: 'deploy', step: 'install_coreos', args: {}, priority: 80 }

async function inspected(conf = {}, fields = {}) {
  const lab = await ScriptedLab.open({ conf: { fastTrack: true, inspectionPowerOff: false, ...conf } })
  const { uuid, machine } = await lab.enroll({ boot_interface: 'redfish-virtual-media', ...fields })
  await lab.provision(uuid, 'manage', 'manageable')
  await lab.provision(uuid, 'inspect', 'manageable')
  return { lab, uuid, machine }
}

test('inspection, cleaning and deployment share one boot of the ramdisk', async () => {
  const { lab, uuid, machine } = await inspected()
  expect(await lab.until(uuid, (node) => node.driver_internal_info.agent_url !== undefined)).toMatchObject({
    provision_state: 'manageable',
    power_state: 'power on',
  })
  const available = await lab.provision(uuid, 'provide', 'available')
  expect(available).toMatchObject({ power_state: 'power on', clean_step: {} })
  expect(available.driver_internal_info).toHaveProperty('agent_url')
  await lab.provision(uuid, 'active', 'active', { deploy_steps: [INSTALL] })
  expect(machine.boots).toEqual(['ramdisk', 'disk'])
  expect(machine.sent.map(({ name }) => name)).toEqual([
    'clean.get_clean_steps',
    'clean.execute_clean_step',
    'deploy.get_deploy_steps',
    'deploy.execute_deploy_step',
    'standby.power_off',
  ])
})

test.each<[string, Record<string, unknown>, Record<string, unknown>]>([
  ['fast track is off', { fastTrack: false }, {}],
  [
    'driver_info of the node disables fast track',
    {},
    { driver_info: { redfish_address: 'http://bmc-525400000001', fast_track: false } },
  ],
])('each flow boots the ramdisk again when %s', async (_, conf, fields) => {
  const { lab, uuid, machine } = await inspected(conf, fields)
  await lab.provision(uuid, 'provide', 'available')
  await lab.provision(uuid, 'active', 'active', { deploy_steps: [INSTALL] })
  expect(machine.boots).toEqual(['ramdisk', 'ramdisk', 'ramdisk', 'disk'])
})

test('an agent without a heartbeat within fast_track_timeout is booted again', async () => {
  const { lab, uuid, machine } = await inspected({ fastTrackTimeout: 60_000 })
  await lab.until(uuid, (node) => node.driver_internal_info.agent_url !== undefined)
  await lab.clock.advance(120_000)
  await lab.provision(uuid, 'provide', 'available')
  expect(machine.boots).toEqual(['ramdisk', 'ramdisk'])
})

test('a running agent that does not answer is waited for', async () => {
  const { lab, uuid, machine } = await inspected()
  await lab.until(uuid, (node) => node.driver_internal_info.agent_url !== undefined)
  machine.script.reachable = false
  await lab.provision(uuid, 'provide', 'clean wait')
  machine.script.reachable = true
  await machine.heartbeat()
  await lab.until(uuid, 'available')
  expect(machine.boots).toEqual(['ramdisk'])
})

test('a machine that is off boots its ramdisk', async () => {
  const { lab, uuid, machine } = await inspected()
  const known = ({ driver_internal_info: info }: { driver_internal_info: Record<string, unknown> }) =>
    info['agent_url'] !== undefined
  await lab.until(uuid, known)
  // As a kill leaves it between the BMC and the database.
  await machine.setPower('power off')
  await lab.provision(uuid, 'provide', 'available')
  expect(machine.boots).toEqual(['ramdisk', 'ramdisk'])
  await lab.until(uuid, known)
  await machine.setPower('power off')
  await lab.provision(uuid, 'active', 'active', { deploy_steps: [INSTALL] })
  expect(machine.boots).toEqual(['ramdisk', 'ramdisk', 'ramdisk', 'disk'])
})

test('after a failure the ramdisk is booted again', async () => {
  const { lab, uuid, machine } = await inspected({ automatedClean: false })
  await lab.until(uuid, (node) => node.driver_internal_info.agent_url !== undefined)
  machine.script.cleanSteps = [ERASE]
  await lab.provision(uuid, 'clean', 'clean failed', { clean_steps: [{ interface: 'deploy', step: 'nosuch' }] })
  await lab.provision(uuid, 'manage', 'manageable')
  // For some minutes upstream takes a finished inspection for a sign of life, even of an agent it has forgotten.
  await lab.clock.advance(301_000)
  await lab.provision(uuid, 'clean', 'manageable', {
    clean_steps: [{ interface: 'deploy', step: ERASE.step }],
  })
  expect(machine.boots).toEqual(['ramdisk', 'ramdisk'])
})
