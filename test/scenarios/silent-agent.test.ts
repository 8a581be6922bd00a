import { describe, expect, test } from 'vitest'
import { createLab, createStagedLab, installCoreos } from '../../lab/index.js'
import { minutes } from '../../base/runtime/index.js'
import { ignition, partitionsOf } from '../kit/deployed.js'

test('a node whose agent goes silent fails its deployment after the callback timeout', async () => {
  await using lab = await createLab({ clock: 'auto', seed: 7 })
  const node = await lab.enroll({ deploySteps: [installCoreos({ ignition })] })
  lab.faults.add({ match: { node: node.uuid, phase: 'install' }, effect: { kind: 'agent-silent' } })

  await node.deploy()

  expect(await node.settled()).toMatchObject({
    provision_state: 'deploy failed',
    last_error: expect.stringContaining('Timeout reached while waiting for callback'),
  })
  expect(lab.clock.elapsed()).toBeGreaterThan(minutes(30))
})

describe('an agent that is silent from the beginning', () => {
  test('of an inspection: the node can be inspected again once it speaks', async () => {
    await using lab = await createStagedLab()
    const node = await lab.enroll()
    const silence = lab.faults.add({ match: { node: node.uuid, phase: 'inspect' }, effect: { kind: 'agent-silent' } })
    await node.provision('manage')
    await node.settled()
    await node.provision('inspect')

    expect(await node.settled()).toMatchObject({
      provision_state: 'inspect failed',
      target_provision_state: 'manageable',
      last_error: expect.stringContaining('Timeout reached while inspecting the node'),
      maintenance: false,
      fault: null,
      inspection_finished_at: null,
    })

    silence[Symbol.dispose]()
    await node.provision('inspect')
    expect(await node.settled()).toMatchObject({ provision_state: 'manageable', last_error: null })
  })

  test('of a cleaning: the node comes back by way of manageable', async () => {
    await using lab = await createStagedLab()
    const node = await lab.enroll()
    await node.provision('manage')
    await node.settled()
    const silence = lab.faults.add({ match: { node: node.uuid, phase: 'clean' }, effect: { kind: 'agent-silent' } })
    await node.provision('provide')

    const failed = await node.settled()
    expect(failed).toMatchObject({
      provision_state: 'clean failed',
      target_provision_state: 'available',
      last_error: expect.stringContaining('Timeout reached while cleaning the node'),
      // No step had begun, so the node needs no maintenance.
      maintenance: false,
      fault: null,
      power_state: 'power off',
    })

    silence[Symbol.dispose]()
    await node.provision('manage')
    expect(await node.settled()).toMatchObject({ provision_state: 'manageable' })
    await node.provision('provide')
    expect(await node.settled()).toMatchObject({ provision_state: 'available', maintenance: false, fault: null })
  })

  test('of a deployment: the disk was not touched, and the next attempt succeeds', async () => {
    await using lab = await createStagedLab()
    const node = await lab.enroll({ deploySteps: [installCoreos({ ignition })] })
    await node.makeAvailable()
    const silence = lab.faults.add({ match: { node: node.uuid, phase: 'deploy' }, effect: { kind: 'agent-silent' } })
    await node.deploy()

    expect(await node.settled()).toMatchObject({
      provision_state: 'deploy failed',
      target_provision_state: 'active',
      last_error: `Timeout reached while waiting for callback for node ${node.uuid}`,
      maintenance: false,
      fault: null,
      deploy_step: {},
      reservation: null,
    })
    expect(await partitionsOf(node)).toEqual([])

    silence[Symbol.dispose]()
    await node.provision('active', { deploy_steps: [installCoreos({ ignition })] })
    expect(await node.settled()).toMatchObject({ provision_state: 'active', last_error: null })
  })
})

describe('an agent that falls silent while it works', () => {
  test('on a cleaning step: the node needs somebody to look at it', async () => {
    await using lab = await createStagedLab()
    const node = await lab.enroll()
    await node.provision('manage')
    await node.settled()
    lab.events.listen((event) => {
      if (event.kind === 'progress' && event.step === 'erase_devices')
        lab.faults.add({ match: { node: node.uuid }, effect: { kind: 'agent-silent' } })
    })
    await node.provision('provide')

    expect(await node.settled()).toMatchObject({
      provision_state: 'clean failed',
      last_error: expect.stringMatching(/^Timeout reached while cleaning the node.* Failed on step \{.*erase_devices/),
      maintenance: true,
      fault: 'clean failure',
    })
  })

  test('on an installation, for less than the timeout: the deployment goes on', async () => {
    await using lab = await createStagedLab()
    const node = await lab.enroll({ deploySteps: [installCoreos({ ignition })] })
    const silence = lab.faults.add({ match: { node: node.uuid, phase: 'install' }, effect: { kind: 'agent-silent' } })
    await node.deploy()
    await lab.wait(lab.clock.sleep(minutes(20)))
    expect(await node.get()).toMatchObject({ provision_state: 'wait call-back' })

    silence[Symbol.dispose]()
    expect(await node.settled()).toMatchObject({ provision_state: 'active', last_error: null })
  })

  test('a node in maintenance waits for its agent without a limit', async () => {
    await using lab = await createStagedLab()
    const node = await lab.enroll({ deploySteps: [installCoreos({ ignition })] })
    lab.faults.add({ match: { node: node.uuid, phase: 'install' }, effect: { kind: 'agent-silent' } })
    await node.deploy()
    await node.until(({ provision_state, reservation }) => provision_state === 'wait call-back' && !reservation)
    await lab.client.setMaintenance(node.uuid, true, 'looking')
    await lab.wait(lab.clock.sleep(minutes(120)))
    expect(await node.get()).toMatchObject({ provision_state: 'wait call-back', maintenance_reason: 'looking' })

    await lab.client.setMaintenance(node.uuid, false)
    expect(await node.settled()).toMatchObject({ provision_state: 'deploy failed' })
  })
})
