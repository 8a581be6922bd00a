import { describe, expect, test } from 'vitest'
import { ScriptedLab } from '../../../test/kit/conductor/scripted-lab.js'

const FAKE = { driver: 'fake-hardware', deploy_interface: 'fake', inspect_interface: 'fake', rescue_interface: 'fake' }

async function manageable(fields = {}, conf = {}) {
  const lab = await ScriptedLab.open({ conf })
  const { uuid } = await lab.conductor.createNode({ ...FAKE, ...fields })
  await lab.provision(uuid, 'manage', 'manageable')
  return { lab, uuid }
}

test('a fake node passes all flows without a machine, and its power is never read', async () => {
  const { lab, uuid } = await manageable()
  const inspected = await lab.provision(uuid, 'inspect', 'manageable')
  expect(inspected.inspection_finished_at).not.toBeNull()
  await lab.provision(uuid, 'provide', 'available')
  await lab.provision(uuid, 'active', 'active')
  await lab.provision(uuid, 'rebuild', 'active')
  expect((await lab.provision(uuid, 'rescue', 'rescue', { rescue_password: 'secret' })).instance_info).toHaveProperty(
    'rescue_password',
  )
  // Without a ramdisk no clean-up removes the password (recorded).
  expect((await lab.provision(uuid, 'unrescue', 'active')).instance_info).toHaveProperty('rescue_password')
  const node = await lab.provision(uuid, 'deleted', 'available')
  expect(node).toMatchObject({ power_state: null, target_power_state: null, last_error: null, instance_info: {} })
  expect((await lab.store.history(uuid)).map(({ event_type }) => event_type)).toEqual([
    'automated_cleaning_start',
    'automated_cleaning_end',
    'deployment_start',
    'deployment_end',
    'deployment_start',
    'deployment_end',
    'automated_cleaning_start',
    'automated_cleaning_end',
  ])
  expect((await lab.store.history(uuid))[0]?.event).toBe(
    "Starting automated cleaning with steps=[{'step': 'log_passthrough', 'priority': 1, 'abortable': False, 'argsinfo': None, 'interface': 'vendor', 'requires_ramdisk': True}]",
  )
})

test('a fake node has the power state that was requested last', async () => {
  const { lab, uuid } = await manageable()
  await lab.conductor.changePower(uuid, 'power on')
  expect(await lab.until(uuid, (node) => node.reservation === null)).toMatchObject({ power_state: 'power on' })
})

const CLEAN_STEPS = [
  { step: 'hold', interface: 'deploy' },
  { interface: 'bios', step: 'factory_reset' },
]

test('manual cleaning with fake steps; reserved ones are dropped, as Ironic 39.0.0 does', async () => {
  const { lab, uuid } = await manageable({}, { dropReservedSteps: true })
  await lab.provision(uuid, 'clean', 'manageable', { clean_steps: CLEAN_STEPS })
  expect((await lab.store.history(uuid))[0]?.event).toBe(
    "Starting manual cleaning with steps=[{'interface': 'bios', 'step': 'factory_reset', 'abortable': False, 'priority': 0}]",
  )
})

// The words of ironic 39.0.0, which says only the types of settings that it cannot use: never their texts.
test.each<[settings: unknown, sentence: string]>([
  ['hidden', "string indices must be integers, not 'str'"],
  [{ hidden: 1 }, "string indices must be integers, not 'str'"],
  [7, "'int' object is not iterable"],
  [null, "'NoneType' object is not iterable"],
  [['hidden'], "string indices must be integers, not 'str'"],
  [[7.5], "'float' object is not subscriptable"],
  [[['hidden']], 'list indices must be integers or slices, not str'],
  [[{ value: 'hidden' }], "'name'"],
])('BIOS settings %j that cannot be used fail the cleaning', async (settings, sentence) => {
  const { lab, uuid } = await manageable()
  const step = { interface: 'bios', step: 'apply_configuration', args: { settings } }
  const { last_error } = await lab.provision(uuid, 'clean', 'clean failed', { clean_steps: [step] })
  expect(last_error).toMatch(/^Node \S+ failed step /)
  expect(last_error).toContain(`: ${sentence}`)
})

test('BIOS settings that are missing are named with the description of upstream', async () => {
  const { lab, uuid } = await manageable()
  const step = { interface: 'bios', step: 'apply_configuration' }
  const { last_error } = await lab.provision(uuid, 'clean', 'clean failed', { clean_steps: [step] })
  expect(last_error).toContain(
    'missing these required arguments: settings (List of BIOS settings, each item needs to contain a dictionary with name/value pairs)',
  )
})

test('cleaning waits at a hold step and continues after unhold', async () => {
  const { lab, uuid } = await manageable()
  await lab.provision(uuid, 'clean', 'clean hold', { clean_steps: CLEAN_STEPS })
  expect(await lab.provision(uuid, 'unhold', 'manageable')).toMatchObject({ last_error: null })
  await lab.provision(uuid, 'clean', 'clean hold', { clean_steps: CLEAN_STEPS })
  // A hold step is not abortable in Ironic, so that each abort only sets abort_after.
  for (const _ of [1, 2]) {
    await lab.conductor.provision(uuid, { target: 'abort' })
    expect(await lab.node(uuid)).toMatchObject({ provision_state: 'clean hold', clean_step: { abort_after: true } })
  }
  expect(await lab.provision(uuid, 'unhold', 'clean failed')).toMatchObject({
    last_error: 'By request, the clean operation was aborted during or after the completion of step "deploy.hold"',
  })
})

describe('service', () => {
  const active = async () => {
    const scene = await manageable({ automated_clean: false })
    await scene.lab.provision(scene.uuid, 'provide', 'available')
    await scene.lab.provision(scene.uuid, 'active', 'active')
    const service = (step: string, wanted: 'active' | 'service failed' | 'service wait') =>
      scene.lab.provision(scene.uuid, 'service', wanted, { service_steps: [{ interface: 'vendor', step }] })
    return { ...scene, service }
  }

  test('runs a step of the fake vendor interface', async () => {
    const { lab, uuid, service } = await active()
    await service('log_passthrough', 'active')
    expect((await lab.store.history(uuid)).at(-2)?.event).toBe(
      "Starting servicing with steps=[{'interface': 'vendor', 'step': 'log_passthrough', 'abortable': False, 'priority': 0}]",
    )
  })

  test('fails for an unknown step and returns to active by abort, as recorded', async () => {
    const { lab, uuid, service } = await active()
    const error = `Node ${uuid} failed step {'interface': 'vendor', 'step': 'nosuch'}: 'FakeVendorB' object has no attribute 'nosuch'`
    expect(await service('nosuch', 'service failed')).toMatchObject({
      last_error: error,
      maintenance: true,
      maintenance_reason: error,
      fault: 'service failure',
      service_step: {},
    })
    expect((await lab.store.history(uuid)).slice(-2).map(({ event }) => event)).toEqual([
      "Servicing aborted at step 'nosuch' with steps=[{'interface': 'vendor', 'step': 'nosuch'}]",
      error,
    ])
    await lab.conductor.setMaintenance(uuid, false)
    expect(await lab.provision(uuid, 'abort', 'active')).toMatchObject({
      last_error: 'By request, the service operation was aborted',
    })
  })

  test('an abort during a step that is not abortable waits for its end', async () => {
    const { lab, uuid, service } = await active()
    await service('trigger_servicewait', 'service wait')
    await lab.conductor.provision(uuid, { target: 'abort' })
    expect(await lab.node(uuid)).toMatchObject({ provision_state: 'service wait', service_step: { abort_after: true } })
  })
})

test('an unknown clean step fails the node, and manage and provide make it available again', async () => {
  const { lab, uuid } = await manageable()
  const failed = await lab.provision(uuid, 'clean', 'clean failed', {
    clean_steps: [{ interface: 'raid', step: 'delete_configuration' }],
  })
  expect(failed).toMatchObject({
    last_error: `Cannot clean node ${uuid}: node does not support this clean step: {'interface': 'raid', 'step': 'delete_configuration'}`,
    maintenance: false,
    target_provision_state: 'manageable',
  })
  await expect(lab.conductor.provision(uuid, { target: 'provide' })).rejects.toMatchObject({ status: 400 })
  // The error stays until the next flow starts.
  expect(await lab.provision(uuid, 'manage', 'manageable')).toMatchObject({ last_error: failed.last_error })
  expect(await lab.provision(uuid, 'provide', 'available')).toMatchObject({ last_error: null })
})

test('an unknown deploy step is skipped, as recorded', async () => {
  const { lab, uuid } = await manageable()
  await lab.provision(uuid, 'provide', 'available')
  const deploy_steps = [{ interface: 'raid', step: 'nosuch', priority: 60, args: {} }]
  expect(await lab.provision(uuid, 'active', 'active', { deploy_steps })).toMatchObject({ last_error: null })
})

test('adoption makes a fake node active without a change', async () => {
  const { lab, uuid } = await manageable()
  expect(await lab.provision(uuid, 'adopt', 'active')).toMatchObject({ target_provision_state: null })
})

test('fake-hardware powers a machine on with fakeHardwareMachines', async () => {
  const lab = await ScriptedLab.open({ conf: { fakeHardwareMachines: true } })
  const { uuid, machine } = await lab.enroll({
    driver: 'fake-hardware',
    driver_info: { machine: 'http://bmc-525400000001' },
  })
  await lab.provision(uuid, 'manage', 'manageable')
  await lab.conductor.changePower(uuid, 'power on')
  await lab.until(uuid, (node) => node.reservation === null)
  expect(machine.state).toBe('power on')
})
