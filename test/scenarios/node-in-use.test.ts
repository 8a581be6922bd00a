import { describe, expect, test } from 'vitest'
import { createStagedLab, installCoreos, type StagedLab } from '../../lab/index.js'
import { minutes } from '../../base/runtime/index.js'
import { machineOf } from '../kit/deployed.js'

/** RAID is left to the agent, so that there is a service step in the ramdisk. */
async function active(lab: StagedLab, fields: Record<string, unknown> = {}) {
  const node = await lab.enroll({ deploySteps: [installCoreos()], fields: { raid_interface: 'agent', ...fields } })
  await node.deploy()
  expect(await node.settled()).toMatchObject({ provision_state: 'active' })
  return node
}

describe('servicing', () => {
  test('by the agent of the ramdisk, then the installed system runs again', async () => {
    await using lab = await createStagedLab()
    const node = await active(lab)
    const installed = (await machineOf(node)).firstBoot()
    await node.provision('service', { service_steps: [{ interface: 'raid', step: 'delete_configuration' }] })
    expect(await node.until(({ provision_state: state }) => state === 'service wait')).toMatchObject({
      power_state: 'power on',
      target_provision_state: 'active',
    })
    expect(await node.settled()).toMatchObject({ provision_state: 'active', last_error: null, service_step: {} })
    const machine = await machineOf(node)
    expect(machine.boot()).toMatchObject({ outcome: 'disk' })
    expect(machine.firstBoot()).toEqual(installed)
  })

  test('with a step that nobody has, and back by abort', async () => {
    await using lab = await createStagedLab()
    const node = await active(lab)
    await node.provision('service', { service_steps: [{ interface: 'deploy', step: 'nosuch' }] })
    expect(await node.settled()).toMatchObject({
      provision_state: 'service failed',
      maintenance: false,
      last_error:
        "Node failed to start the first service step: node does not support this service step: {'interface': 'deploy', 'step': 'nosuch'}",
    })
    await node.provision('abort')
    expect(await node.settled()).toMatchObject({
      provision_state: 'active',
      last_error: 'By request, the service operation was aborted',
    })
    expect((await machineOf(node)).boot()).toMatchObject({ outcome: 'disk' })
  })

  test('an agent that is silent: failed after the callback timeout, 0 waits forever', async () => {
    await using lab = await createStagedLab({ conf: { serviceCallbackTimeout: minutes(10) } })
    const node = await active(lab)
    lab.faults.add({ match: { node: node.uuid }, effect: { kind: 'agent-silent' } })
    await node.provision('service', { service_steps: [{ interface: 'raid', step: 'delete_configuration' }] })
    expect(await node.settled()).toMatchObject({
      provision_state: 'service failed',
      last_error: expect.stringContaining('Timeout reached while servicing the node') as string,
    })
    await using patient = await createStagedLab({ conf: { serviceCallbackTimeout: 0 } })
    const other = await active(patient)
    patient.faults.add({ match: { node: other.uuid }, effect: { kind: 'agent-silent' } })
    await other.provision('service', { service_steps: [{ interface: 'raid', step: 'delete_configuration' }] })
    await patient.wait(patient.clock.sleep(minutes(45)))
    expect(await other.get()).toMatchObject({ provision_state: 'service wait' })
  })
})

test('rescue by the real agent: the machine is in the ramdisk with a password, then in its system again', async () => {
  await using lab = await createStagedLab()
  const node = await active(lab, { rescue_interface: 'agent' })
  await node.provision('rescue', { rescue_password: 'open sesame' })
  expect(await node.settled()).toMatchObject({ provision_state: 'rescue', last_error: null })
  expect((await machineOf(node)).boot()).toMatchObject({ outcome: 'ramdisk' })
  expect((await node.get()).instance_info).not.toHaveProperty('rescue_password')
  await node.provision('unrescue')
  expect(await node.settled()).toMatchObject({ provision_state: 'active', last_error: null })
  expect((await machineOf(node)).boot()).toMatchObject({ outcome: 'disk' })
})

test('fast track: one boot of the ramdisk from inspection to deployment', async () => {
  await using lab = await createStagedLab({ conf: { fastTrack: true, inspectionPowerOff: false } })
  const booted: string[] = []
  lab.events.listen((event) => void (event.kind === 'ramdisk-up' && booted.push(event.machine)))
  const node = await lab.enroll({ deploySteps: [installCoreos()] })
  for (const verb of ['manage', 'inspect']) {
    await node.provision(verb)
    await node.settled()
  }
  // Its agent looks the node up after the inspection.
  await lab.wait(lab.clock.sleep(1000))
  await node.deploy()
  await node.settled()
  expect(booted).toHaveLength(1)
  expect((await machineOf(node)).boot()).toMatchObject({ outcome: 'disk' })
})

test('fast track: a deployment that is requested before the agent has reported after its inspection waits for it', async () => {
  await using lab = await createStagedLab({
    conf: { fastTrack: true, inspectionPowerOff: false, automatedClean: false },
  })
  const node = await lab.enroll({ deploySteps: [installCoreos()] })
  lab.faults.add({ match: { node: node.uuid, route: '/v1/heartbeat' }, effect: { kind: 'delay', ms: minutes(1) } })
  await node.makeAvailable()
  expect((await node.get()).driver_internal_info).not.toHaveProperty('agent_url')
  await node.deploy()
  expect(await node.settled()).toMatchObject({ provision_state: 'active', last_error: null })
})

test('fast track: an agent that was forgotten when a deployment was aborted is not waited for, its machine is booted again', async () => {
  await using lab = await createStagedLab({
    conf: { fastTrack: true, inspectionPowerOff: false, automatedClean: false },
  })
  const node = await lab.enroll({ deploySteps: [installCoreos()] })
  await node.makeAvailable()
  const silence = lab.faults.add({ match: { node: node.uuid }, effect: { kind: 'agent-silent' } })
  await node.deploy()
  await node.until(({ provision_state, reservation }) => provision_state === 'wait call-back' && !reservation)
  await node.provision('abort')
  expect(await node.settled()).toMatchObject({ provision_state: 'deploy failed', power_state: 'power on' })
  silence[Symbol.dispose]()
  const begun = lab.clock.elapsed()
  await node.provision('active', { deploy_steps: [installCoreos()] })
  expect(await node.settled()).toMatchObject({ provision_state: 'active', last_error: null })
  expect(lab.clock.elapsed() - begun).toBeLessThan(minutes(10))
})

describe('a BMC', () => {
  test('that does not answer takes the node out of service, and it comes back by itself', async () => {
    await using lab = await createStagedLab()
    const node = await active(lab)
    const silence = lab.faults.add({ match: { node: node.uuid }, effect: { kind: 'bmc-silent' } })
    await lab.wait(lab.clock.sleep(minutes(10)))
    expect(await node.get()).toMatchObject({
      maintenance: true,
      fault: 'power failure',
      power_state: null,
      last_error: expect.stringMatching(
        /^During sync_power_state, max retries exceeded .* Error: Redfish connection failed for node/,
      ) as string,
    })
    silence[Symbol.dispose]()
    await lab.wait(lab.clock.sleep(minutes(10)))
    expect(await node.get()).toMatchObject({ maintenance: false, fault: null, power_state: 'power on' })
  })

  test('that does not know the password: the node stays in enroll, saying why', async () => {
    await using lab = await createStagedLab()
    const spec = lab.spec(1)
    const node = await lab.enroll({
      machine: { ...spec, bmc: { ...spec.bmc!, username: 'root', password: 'right' } },
      fields: {
        driver_info: {
          redfish_address: `http://${spec.bmc!.address}`,
          redfish_system_id: `/redfish/v1/Systems/${spec.bmc!.systemId}`,
          redfish_username: 'root',
          redfish_password: 'wrong',
        },
      },
    })
    await node.provision('manage')
    expect(await node.settled()).toMatchObject({
      provision_state: 'enroll',
      last_error: expect.stringMatching(/^Failed to get power state for node .* returned code 401/) as string,
    })
  })
})

test('out-of-band inspection leaves the machine off and knows its parts', async () => {
  await using lab = await createStagedLab()
  const node = await lab.enroll({ fields: { inspect_interface: 'redfish' } })
  await node.provision('manage')
  await node.settled()
  await node.provision('inspect')
  expect(await node.settled()).toMatchObject({
    provision_state: 'manageable',
    power_state: 'power off',
    properties: { cpu_arch: 'x86_64', local_gb: expect.any(Number) as number, memory_mb: expect.any(Number) as number },
  })
  expect(await lab.client.inventory(node.uuid)).toMatchObject({ inventory: { system_vendor: {} } })
})

describe('retired and protected', () => {
  test('a retired node does not become available, and goes to manageable when it is torn down', async () => {
    await using lab = await createStagedLab()
    const node = await active(lab)
    await lab.client.patchNode(node.uuid, [{ op: 'add', path: '/retired', value: true }])
    await node.provision('deleted')
    expect(await node.settled()).toMatchObject({ provision_state: 'manageable', retired: true, last_error: null })
    await expect(node.provision('provide')).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining(
        `The providing operation can't be performed on node ${node.uuid} because it is retired.`,
      ) as string,
    })
  })

  test('a protected node is not torn down', async () => {
    await using lab = await createStagedLab()
    const node = await active(lab)
    await lab.client.patchNode(node.uuid, [{ op: 'add', path: '/protected', value: true }])
    await expect(node.provision('deleted')).rejects.toMatchObject({ status: 403 })
    await lab.client.patchNode(node.uuid, [{ op: 'add', path: '/protected', value: false }])
    await node.provision('deleted')
    expect(await node.settled()).toMatchObject({ provision_state: 'available' })
  })
})

test('a machine that cannot be reached is not adopted', async () => {
  await using lab = await createStagedLab()
  const node = await lab.enroll()
  await node.provision('manage')
  await node.settled()
  const silence = lab.faults.add({ match: { node: node.uuid }, effect: { kind: 'bmc-silent' } })
  await node.provision('adopt')
  expect(await node.settled()).toMatchObject({
    provision_state: 'adopt failed',
    power_state: null,
    last_error: expect.stringMatching(/^Error while attempting to adopt node .*: Redfish connection failed/) as string,
  })
  silence[Symbol.dispose]()
  await node.provision('adopt')
  expect(await node.settled()).toMatchObject({ provision_state: 'active', last_error: null })
})
