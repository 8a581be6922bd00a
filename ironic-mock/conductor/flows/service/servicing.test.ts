import { describe, expect, test } from 'vitest'
import { hours } from '../../../../base/runtime/index.js'
import { ScriptedLab } from '../../../../test/kit/conductor/scripted-lab.js'
import { CommandFailure, ERASE, INSTALL_COREOS } from '../../../../test/kit/conductor/scripted-machine.js'
import type { JsonObject } from '../../../../base/wire/index.js'

const TIDY = { ...ERASE, step: 'tidy', priority: 0 }
const STUBBORN = { ...TIDY, step: 'stubborn', abortable: false }
const ARGUED = { ...TIDY, step: 'argued', argsinfo: { what: { description: 'What.', required: true } } }
const NAMED = { interface: 'deploy', step: 'tidy' }

async function active(conf = {}, fields: JsonObject = {}) {
  const lab = await ScriptedLab.open({ conf: { automatedClean: false, ...conf } })
  const { uuid, machine } = await lab.enroll({ boot_interface: 'redfish-virtual-media', ...fields })
  machine.script.serviceSteps = [TIDY, STUBBORN, ARGUED, { ...TIDY, step: 'rebooting', reboot_requested: true }]
  await lab.provision(uuid, 'manage', 'manageable')
  await lab.provision(uuid, 'provide', 'available')
  const { args: _, ...install } = { ...INSTALL_COREOS, args: {} }
  await lab.provision(uuid, 'active', 'active', {
    deploy_steps: [{ interface: install.interface, step: install.step, args: {}, priority: 80 }],
  })
  machine.sent = []
  machine.boots = []
  lab.seen.length = 0
  const service = (steps: JsonObject[], wanted: Parameters<typeof lab.provision>[2], more: JsonObject = {}) =>
    lab.provision(uuid, 'service', wanted, { service_steps: steps, ...more })
  return { lab, uuid, machine, service }
}

test('steps of the agent on a node in use, then back to the instance', async () => {
  const { lab, uuid, machine, service } = await active()
  const node = await service([NAMED], 'active')
  expect(lab.states(uuid)).toEqual(['servicing', 'service wait', 'servicing', 'service wait', 'servicing', 'active'])
  expect(machine.sent.map(({ name }) => name)).toEqual(['service.get_service_steps', 'service.execute_service_step'])
  expect(machine.sent[1]!.params.step).toEqual({ ...NAMED, abortable: true, priority: 0 })
  expect(machine.boots).toEqual(['ramdisk', 'disk'])
  expect(node).toMatchObject({
    power_state: 'power on',
    service_step: {},
    last_error: null,
    target_provision_state: null,
    driver_internal_info: { service_steps: null },
  })
  expect(node.driver_internal_info).not.toHaveProperty('agent_url')
  expect(lab.seen.map((item) => item.node.power_state)).toContain('power off')
  expect((await lab.store.history(uuid)).slice(-2).map(({ event }) => event)).toEqual([
    "Starting servicing with steps=[{'interface': 'deploy', 'step': 'tidy'}]",
    'Servicing completed successfully with steps=[]',
  ])
})

test('managers that changed under way: the steps are read again and the step is sent again', async () => {
  const { machine, service } = await active()
  machine.changeManagers()
  expect(await service([NAMED], 'active')).toMatchObject({ clean_step: {}, service_step: {} })
  expect(machine.sent.map(({ name }) => name)).toEqual([
    'service.get_service_steps',
    'service.execute_service_step',
    'service.get_service_steps',
    'service.execute_service_step',
  ])
})

test('an agent that reports and cannot be asked about its step fails the service', async () => {
  const { machine, service } = await active()
  machine.script.run = () => {
    machine.script.reachable = false
    return null
  }
  const node = await service([NAMED], 'service failed')
  expect(node).toMatchObject({ fault: 'service failure', maintenance: true })
  expect(node.last_error).toMatch(/^Node failed to check service progress: Connection to agent failed: /)
})

test('a step that the user names is not followed by a reboot, even if its owner asks for one', async () => {
  const { machine, service } = await active()
  await service([{ interface: 'deploy', step: 'rebooting' }, NAMED], 'active')
  expect(machine.boots).toEqual(['ramdisk', 'disk'])
})

test.each<[string, JsonObject, string]>([
  ['unknown', { step: 'nosuch' }, "node does not support this service step: {'interface': 'deploy', 'step': 'nosuch'}"],
  [
    'missing an argument',
    { step: 'argued' },
    "service step {'interface': 'deploy', 'step': 'argued'} is missing these required arguments: what (What.)",
  ],
])('a step that is %s fails once the agent was asked; the instance comes back', async (_, step, problem) => {
  const { machine, service } = await active()
  expect(await service([{ interface: 'deploy', ...step }], 'service failed')).toMatchObject({
    last_error: `Node failed to start the first service step: ${problem}`,
    maintenance: false,
    fault: null,
    power_state: 'power on',
    target_provision_state: 'active',
  })
  expect(machine.boots).toEqual(['ramdisk', 'disk'])
})

describe('a step that fails', () => {
  const failed = async () => {
    const scene = await active()
    scene.machine.script.run = () => {
      throw new CommandFailure('no luck', 'ServiceError')
    }
    return { ...scene, node: await scene.service([NAMED], 'service failed') }
  }

  test('keeps the node as it is, with its logs fetched', async () => {
    const { uuid, machine, node } = await failed()
    expect(node).toMatchObject({
      last_error: `Service step deploy.tidy failed on node ${uuid}. no luck`,
      service_step: { step: 'tidy' },
      maintenance: false,
      fault: null,
      power_state: 'power on',
    })
    expect(machine.sent.at(-1)?.name).toBe('log.collect_system_logs')
  })

  test('abort brings the instance back', async () => {
    const { lab, uuid, machine } = await failed()
    expect(await lab.provision(uuid, 'abort', 'active')).toMatchObject({
      last_error: 'By request, the service operation was aborted during or after the completion of step "deploy.tidy"',
      service_step: {},
      power_state: 'power on',
    })
    expect(machine.boots).toEqual(['ramdisk', 'disk'])
  })

  test('can be done again, or the node undeployed', async () => {
    const { lab, uuid, machine, service } = await failed()
    machine.script.run = () => null
    expect(await service([NAMED], 'active')).toMatchObject({ last_error: null })
    machine.script.run = () => {
      throw new CommandFailure('again', 'ServiceError')
    }
    await service([NAMED], 'service failed')
    expect(await lab.provision(uuid, 'deleted', 'available')).toMatchObject({
      service_step: { step: 'tidy' },
      last_error: null,
    })
  })
})

test('a node that is deleted while a step runs keeps the step', async () => {
  const { lab, uuid, machine, service } = await active()
  machine.script.run = () => lab.clock.sleep(hours(0.1))
  await service([NAMED], 'service wait')
  await lab.until(uuid, (node) => node.provision_state === 'service wait' && node.service_step.step === 'tidy')
  expect(await lab.provision(uuid, 'deleted', 'available')).toMatchObject({ service_step: { step: 'tidy' } })
})

test('an agent that cannot be reached in a step takes the node out of service', async () => {
  const { lab, uuid, machine, service } = await active()
  machine.script.run = async () => {
    machine.script.reachable = false
    await lab.clock.sleep(1)
  }
  const node = await service([NAMED], 'service failed')
  expect(node.last_error).toMatch(/^Node failed to check service progress: /)
  expect(node).toMatchObject({ maintenance: true, fault: 'service failure', maintenance_reason: node.last_error })
  await expect(lab.conductor.provision(uuid, { target: 'abort' })).rejects.toMatchObject({ status: 409 })
  await lab.conductor.setMaintenance(uuid, false)
  await lab.provision(uuid, 'abort', 'active')
})

describe('no agent reports', () => {
  test('before the first step', async () => {
    const { machine, service } = await active()
    machine.script.silent = true
    expect(await service([NAMED], 'service failed')).toMatchObject({
      last_error:
        'Timeout reached while servicing the node. Please check if the ramdisk responsible for the servicing is running on the node. Failed on step {}.',
      fault: null,
      power_state: 'power on',
    })
    expect(machine.boots).toEqual(['ramdisk', 'disk'])
  })

  test('in a step', async () => {
    const { lab, machine, service } = await active()
    machine.script.run = () => lab.clock.sleep(hours(2))
    expect(await service([NAMED], 'service failed')).toMatchObject({ fault: 'service failure', maintenance: true })
  })
})

describe('abort while a step runs', () => {
  test.each<[string, string, string[]]>([
    ['at once', 'tidy', ['service failed', 'active']],
    ['after a step that must not be interrupted', 'stubborn', ['service failed']],
  ])('%s', async (_, step, states) => {
    const { lab, uuid, machine, service } = await active()
    machine.script.run = () => lab.clock.sleep(hours(0.1))
    await service([{ interface: 'deploy', step }, NAMED], 'service wait')
    await lab.until(uuid, (node) => node.provision_state === 'service wait' && node.service_step.step === step)
    lab.seen.length = 0
    await lab.conductor.provision(uuid, { target: 'abort' })
    const end = await lab.until(uuid, states.at(-1) as 'active')
    expect(end.last_error).toBe(
      `By request, the service operation was aborted during or after the completion of step "deploy.${step}"`,
    )
    expect(machine.sent.filter(({ name }) => name.includes('execute'))).toHaveLength(1)
  })
})

describe('hold', () => {
  const HOLD = { interface: 'deploy', step: 'hold' }

  test('waits for the release of the lock, and goes on at once', async () => {
    const { lab, uuid, machine, service } = await active()
    await service([HOLD, NAMED], 'service hold')
    expect(await lab.provision(uuid, 'unhold', 'active')).toMatchObject({ last_error: null })
    expect(machine.sent.filter(({ name }) => name.includes('execute'))).toHaveLength(1)
  })

  test('Ironic 39.0.0 drops it', async () => {
    const { lab, uuid, service } = await active({ dropReservedSteps: true })
    await service([HOLD, NAMED], 'active')
    expect(lab.states(uuid)).not.toContain('service hold')
  })
})

test('without a ramdisk requests that need the agent are refused', async () => {
  const { machine, service } = await active()
  const node = await service([NAMED], 'service failed', { disable_ramdisk: true })
  expect(node.last_error).toContain('node does not support this service step')
  expect(machine.boots).toEqual([])
})

test.each<[string, JsonObject[], number]>([
  ['in maintenance', [NAMED], 400],
  ['a step that the operator forbids', [{ interface: 'vendor', step: 'send_raw' }], 400],
])('is refused: %s', async (what, service_steps, status) => {
  const { lab, uuid } = await active()
  if (what === 'in maintenance') await lab.conductor.setMaintenance(uuid, true)
  await expect(lab.conductor.provision(uuid, { target: 'service', service_steps })).rejects.toMatchObject({ status })
  expect((await lab.node(uuid)).provision_state).toBe('active')
})
