import { expect, test } from 'vitest'
import { ScriptedLab } from '../../../test/kit/conductor/scripted-lab.js'

const mac = (n: number) => `52:54:00:00:00:0${n}`

async function nodes(count: number, conf = {}) {
  const lab = await ScriptedLab.open({ conf })
  const made = []
  for (let n = 1; n <= count; n++) {
    const node = await lab.enroll({ automated_clean: false, boot_interface: 'redfish-virtual-media' }, mac(n))
    await lab.provision(node.uuid, 'manage', 'manageable')
    made.push(node)
  }
  return { lab, made }
}

const refused = (what: string) => ({
  status: 503,
  message: `Unable to process request at this time. The concurrent action limit for ${what} has been reached. Please contact your administrator and try again later.`,
})

test('a deployment beyond max_concurrent_deploy is refused with 503', async () => {
  const { lab, made } = await nodes(2, { maxConcurrentDeploy: 1 })
  for (const { uuid, machine } of made) {
    machine.script.silent = true
    await lab.provision(uuid, 'provide', 'available')
  }
  const [one, two] = made.map(({ uuid }) => uuid) as [string, string]
  await lab.provision(one, 'active', 'wait call-back')
  await expect(lab.conductor.provision(two, { target: 'active' })).rejects.toMatchObject(refused('provisioning'))
  await lab.provision(one, 'abort', 'deploy failed')
  await lab.provision(two, 'active', 'wait call-back')
})

test('cleaning and teardown beyond max_concurrent_clean are refused, `provide` never', async () => {
  const { lab, made } = await nodes(3, { maxConcurrentClean: 1 })
  for (const { machine } of made) machine.script.silent = true
  const [one, two, three] = made.map(({ uuid }) => uuid) as [string, string, string]
  const clean_steps = [{ interface: 'deploy', step: 'erase_devices_metadata' }]
  await lab.provision(three, 'adopt', 'active')
  await lab.provision(one, 'clean', 'clean wait', { clean_steps })
  await expect(lab.conductor.provision(two, { target: 'clean', clean_steps })).rejects.toMatchObject(
    refused('cleaning'),
  )
  await expect(lab.conductor.provision(three, { target: 'deleted' })).rejects.toMatchObject(refused('unprovisioning'))
  await lab.conductor.updateNode(two, () => ({ automated_clean: true }))
  await lab.provision(two, 'provide', 'clean wait')
})

test('a request for a node that is locked for a moment is retried', async () => {
  const { lab, made } = await nodes(1, { nodeLockedRetryAttempts: 3 })
  const { uuid, machine } = made[0]!
  const set = machine.setPower.bind(machine)
  machine.setPower = async (target) => {
    await lab.clock.sleep(1500)
    return set(target)
  }
  await lab.conductor.changePower(uuid, 'power on')
  await lab.clock.until(lab.conductor.changePower(uuid, 'power off'))
  await lab.until(uuid, (node) => node.reservation === null)

  machine.setPower = async (target) => {
    await lab.clock.sleep(5000)
    return set(target)
  }
  await lab.conductor.changePower(uuid, 'power on')
  const begun = lab.clock.elapsed()
  await expect(lab.clock.until(lab.conductor.setMaintenance(uuid, true))).rejects.toMatchObject({ status: 409 })
  expect(lab.clock.elapsed() - begun).toBe(2000)
})
