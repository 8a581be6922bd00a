import { describe, expect, test } from 'vitest'
import { hours } from '../../../base/runtime/index.js'
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

type Made = Awaited<ReturnType<typeof nodes>>['made'][number]

/** Delays the power of a machine, by the milliseconds that the function is called with last. */
function delayedPower(lab: ScriptedLab, machine: Made['machine']): (delay: number) => void {
  const set = machine.setPower.bind(machine)
  return (delay) => {
    machine.setPower = async (target) => {
      await lab.clock.sleep(delay)
      return set(target)
    }
  }
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

/** Moves a node to another conductor group, which has another conductor. */
async function moveTo(lab: ScriptedLab, node: string, conductor_group: string): Promise<void> {
  const entry = lab.store.records.nodes.get(node)!
  await lab.store.commit({ node, expect: entry.revision, patch: { conductor_group } })
}

describe('a node of another conductor group', () => {
  test.each([
    [false, 'counts'],
    [true, 'does not count with max_concurrent_per_conductor_group'],
  ])('%s: %s for max_concurrent_deploy and max_concurrent_clean', async (maxConcurrentPerConductorGroup) => {
    const conf = { maxConcurrentDeploy: 1, maxConcurrentClean: 1, maxConcurrentPerConductorGroup }
    const { lab, made } = await nodes(4, conf)
    for (const { machine } of made) machine.script.silent = true
    const [one, two, three, four] = made.map(({ uuid }) => uuid) as [string, string, string, string]
    const clean = { clean_steps: [{ interface: 'deploy', step: 'erase_devices_metadata' }] }
    for (const node of [one, two]) await lab.provision(node, 'provide', 'available')
    await lab.provision(one, 'active', 'wait call-back')
    await moveTo(lab, one, 'east')
    await lab.provision(three, 'clean', 'clean wait', clean)
    await moveTo(lab, three, 'east')
    if (maxConcurrentPerConductorGroup) {
      expect(await lab.provision(two, 'active', 'wait call-back')).toMatchObject({ last_error: null })
      expect(await lab.provision(four, 'clean', 'clean wait', clean)).toMatchObject({ last_error: null })
    } else {
      await expect(lab.conductor.provision(two, { target: 'active' })).rejects.toMatchObject(refused('provisioning'))
      const cleaning = lab.conductor.provision(four, { target: 'clean', ...clean })
      await expect(cleaning).rejects.toMatchObject(refused('cleaning'))
    }
  })

  test.each([
    ['active', 'wait call-back', 'deploy failed', 'Timeout reached while waiting for callback'],
    ['inspect', 'inspect wait', 'inspect failed', 'Timeout reached while inspecting the node'],
    ['clean', 'clean wait', 'clean failed', 'Timeout reached while cleaning the node'],
  ] as const)(
    'is not failed by the time limit of %s before it comes back',
    async (target, waiting, failed, last_error) => {
      const { lab, made } = await nodes(1)
      const { uuid, machine } = made[0]!
      machine.script.silent = true
      if (target === 'active') await lab.provision(uuid, 'provide', 'available')
      const steps = { clean_steps: [{ interface: 'deploy', step: 'erase_devices_metadata' }] }
      await lab.provision(uuid, target, waiting, target === 'clean' ? steps : {})
      await moveTo(lab, uuid, 'east')
      await lab.clock.until(lab.clock.sleep(hours(3)))
      expect(await lab.node(uuid)).toMatchObject({ provision_state: waiting, last_error: null })
      await moveTo(lab, uuid, '')
      await lab.until(uuid, failed)
      expect(await lab.node(uuid)).toMatchObject({ last_error: expect.stringContaining(last_error) })
    },
  )
})

test('a request for a node that is locked for a moment is retried', async () => {
  const { lab, made } = await nodes(1, { nodeLockedRetryAttempts: 3 })
  const { uuid, machine } = made[0]!
  const slowDown = delayedPower(lab, machine)
  slowDown(1500)
  await lab.conductor.changePower(uuid, 'power on')
  await lab.clock.until(lab.conductor.changePower(uuid, 'power off'))
  await lab.until(uuid, (node) => node.reservation === null)

  slowDown(5000)
  await lab.conductor.changePower(uuid, 'power on')
  const begun = lab.clock.elapsed()
  await expect(lab.clock.until(lab.conductor.setMaintenance(uuid, true))).rejects.toMatchObject({ status: 409 })
  expect(lab.clock.elapsed() - begun).toBe(2000)
})

const LOCKED_CALLS: Readonly<Record<string, (lab: ScriptedLab, uuid: string) => Promise<() => Promise<unknown>>>> = {
  'a portgroup': async ({ conductor }, uuid) => {
    const fields = { node_uuid: uuid, node_id: 1, name: 'bond', extra: {}, internal_info: {} }
    const { uuid: portgroup } = await conductor.resources.create('portgroup', fields as never)
    return () => conductor.resources.update('portgroup', portgroup, () => ({ extra: { a: 1 } }))
  },
  'a volume target': async ({ conductor }, uuid) => {
    const fields = { node_uuid: uuid, node_id: 1, volume_type: 'iscsi', boot_index: 0, volume_id: 'a', extra: {} }
    const { uuid: target } = await conductor.resources.create('volume_target', fields as never)
    return () => conductor.resources.remove('volume_target', target)
  },
  'a VIF': ({ conductor }, uuid) => Promise.resolve(() => conductor.network.attachVif(uuid, { id: 'vif' })),
  'the boot device': ({ conductor }, uuid) => Promise.resolve(() => conductor.setBootDevice(uuid, 'pxe', false)),
}

test.each(Object.keys(LOCKED_CALLS))(
  'a change of %s of a node that is locked for a moment is retried',
  async (name) => {
    const { lab, made } = await nodes(1, { nodeLockedRetryAttempts: 3 })
    const { uuid, machine } = made[0]!
    delayedPower(lab, machine)(1500)
    const change = await LOCKED_CALLS[name]!(lab, uuid)
    await lab.conductor.changePower(uuid, 'power on')
    const begun = lab.clock.elapsed()
    await lab.clock.until(change())
    expect(lab.clock.elapsed() - begun).toBe(2000)
  },
)
