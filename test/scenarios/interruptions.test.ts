import { describe, expect, test } from 'vitest'
import { createStagedLab, installCoreos, type StagedLab, type LabEvent, type StagedNode } from '../../lab/index.js'
import { hours, minutes, seconds } from '../../base/runtime/index.js'
import { configdrive, ignition, machineOf, readDisk } from '../kit/deployed.js'

const deploy_steps = [installCoreos({ ignition })]
const ACTIVE = { provision_state: 'active', power_state: 'power on', last_error: null, reservation: null }

/** Resolves when install_coreos has printed something: it is in the middle of writing. */
const installing = (lab: StagedLab) =>
  new Promise<void>((resolve) => {
    const listening = lab.events.listen((event: LabEvent) => {
      if (event.kind !== 'progress' || event.step !== 'install_coreos' || !('line' in event.progress)) return
      listening[Symbol.dispose]()
      resolve()
    })
  })

const INTERRUPTED_MACHINE_TIMES = { power: 0, bootRamdisk: 0, bootDisk: 0, writeRate: 2 ** 20 }

/** A node in the middle of its installation, which takes some minutes. */
async function midInstall(lab: StagedLab): Promise<StagedNode> {
  const node = await lab.enroll({ deploySteps: deploy_steps, fields: { automated_clean: false } })
  const begun = installing(lab)
  await node.deploy()
  await lab.wait(begun)
  expect(await node.get()).toMatchObject({ provision_state: 'wait call-back' })
  return node
}

describe('power lost in the middle of an installation', () => {
  test('is noticed by the timeout; the disk does not boot; the next deployment succeeds', async () => {
    await using lab = await createStagedLab({ disks: 'file', machinePace: INTERRUPTED_MACHINE_TIMES })
    const node = await midInstall(lab)
    const machine = await machineOf(node)
    await machine.setPower('off')

    const failed = await node.settled()
    expect(failed).toMatchObject({
      provision_state: 'deploy failed',
      last_error: `Timeout reached while waiting for callback for node ${node.uuid}`,
      maintenance: false,
    })
    expect((await readDisk(lab, node)).boot).toBeNull()

    await node.provision('active', { deploy_steps })
    expect(await node.settled()).toMatchObject(ACTIVE)
  })

  test('and back at once: the agent starts anew, and the disk still does not boot by itself', async () => {
    await using lab = await createStagedLab({ disks: 'file', machinePace: INTERRUPTED_MACHINE_TIMES })
    const node = await midInstall(lab)
    await (await machineOf(node)).setPower('reboot')
    const settled = await node.settled()
    // Its token is spent, so Ironic cannot take the new agent for the old one (Ironic's source).
    expect(settled).toMatchObject({ provision_state: 'deploy failed' })
    expect(settled.last_error).toMatch(/Timeout reached while waiting for callback/)
    expect((await readDisk(lab, node)).boot).toBeNull()
  })

  test('by Ironic itself, asked over its API', async () => {
    await using lab = await createStagedLab({ machinePace: INTERRUPTED_MACHINE_TIMES })
    const node = await midInstall(lab)
    await lab.client.power(node.uuid, 'power off')
    expect(await node.settled()).toMatchObject({ provision_state: 'deploy failed', power_state: 'power off' })
    await node.provision('active', { deploy_steps })
    expect(await node.settled()).toMatchObject(ACTIVE)
  })
})

describe('in wait call-back', () => {
  test('abort fails the deployment; the installer is stopped with the machine by the next one', async () => {
    await using lab = await createStagedLab({ disks: 'file', machinePace: INTERRUPTED_MACHINE_TIMES })
    const node = await midInstall(lab)
    await node.provision('abort')
    expect(await node.settled()).toMatchObject({
      provision_state: 'deploy failed',
      target_provision_state: 'active',
      power_state: 'power on',
      last_error:
        'By request, the deploy operation was aborted during or after the completion of step "deploy.install_coreos"',
    })
    await node.provision('active', { deploy_steps: [installCoreos()], configdrive })
    expect(await node.settled()).toMatchObject(ACTIVE)
    expect((await machineOf(node)).firstBoot()).toMatchObject({ hostname: 'worker-0' })
  })

  test('undeploy gives the machine back, off and without a bootable disk', async () => {
    await using lab = await createStagedLab({ disks: 'file', machinePace: INTERRUPTED_MACHINE_TIMES })
    const node = await midInstall(lab)
    await node.provision('deleted')
    expect(await node.settled()).toMatchObject({
      provision_state: 'available',
      target_provision_state: null,
      power_state: 'power off',
      last_error: null,
      instance_uuid: null,
      deploy_step: {},
    })
    expect((await readDisk(lab, node)).boot).toBeNull()
    await node.provision('active', { deploy_steps })
    expect(await node.settled()).toMatchObject(ACTIVE)
  })

  test.each([
    ['active', 400, /"active" can not be performed on node ".*" while it is in state "wait call-back"/],
    ['provide', 400, /"provide" can not be performed/],
    ['manage', 400, /"manage" can not be performed/],
    ['rebuild', 400, /"rebuild" can not be performed/],
  ])('%s is refused and changes nothing', async (verb, status, message) => {
    await using lab = await createStagedLab({ machinePace: INTERRUPTED_MACHINE_TIMES })
    const node = await midInstall(lab)
    await expect(node.provision(verb)).rejects.toMatchObject({ status, message: expect.stringMatching(message) })
    expect(await node.settled()).toMatchObject(ACTIVE)
  })

  test('neither deletion nor changes are possible', async () => {
    await using lab = await createStagedLab({ machinePace: INTERRUPTED_MACHINE_TIMES })
    const node = await midInstall(lab)
    await expect(lab.client.deleteNode(node.uuid)).rejects.toMatchObject({
      status: 409,
      message: expect.stringMatching(/Can not delete node ".*" while it is in provision state "wait call-back"/),
    })
    await expect(lab.client.patchNode(node.uuid, [{ op: 'add', path: '/extra/a', value: 1 }])).rejects.toMatchObject({
      status: 409,
      message: expect.stringMatching(/can not be updated while a state transition is in progress/),
    })
    expect(await node.settled()).toMatchObject(ACTIVE)
  })

  test('a node in maintenance waits until it is out of it, and can be deleted', async () => {
    await using lab = await createStagedLab({ machinePace: INTERRUPTED_MACHINE_TIMES })
    const node = await midInstall(lab)
    await lab.client.setMaintenance(node.uuid, true, 'looking into it')
    await lab.wait(lab.clock.sleep(minutes(20)))
    expect(await node.get()).toMatchObject({ provision_state: 'wait call-back', maintenance: true, last_error: null })
    await lab.client.setMaintenance(node.uuid, false)
    expect(await node.settled()).toMatchObject({ provision_state: 'active', maintenance: false })

    const other = await midInstall(lab)
    await lab.client.setMaintenance(other.uuid, true)
    await lab.client.deleteNode(other.uuid)
    await expect(other.get()).rejects.toMatchObject({ status: 404 })
    // Its machine lives on, unnoticed; another node can take it over.
    await lab.wait(lab.clock.sleep(hours(1)))
    expect(await node.get()).toMatchObject({ provision_state: 'active' })
  })
})

test('a node in maintenance is not deployed, and is once it is out of it', async () => {
  await using lab = await createStagedLab()
  const node = await lab.enroll({ deploySteps: deploy_steps })
  await node.makeAvailable()
  await lab.client.setMaintenance(node.uuid, true, 'broken fan')
  await expect(node.provision('active', { deploy_steps })).rejects.toMatchObject({
    status: 400,
    message: expect.stringMatching(/maintenance/),
  })
  expect(await node.get()).toMatchObject({ provision_state: 'available', maintenance_reason: 'broken fan' })
  await lab.client.setMaintenance(node.uuid, false)
  await node.deploy()
  expect(await node.settled()).toMatchObject({ ...ACTIVE, maintenance: false, maintenance_reason: null })
})

test('a deployment that was asked for twice at once is one deployment', async () => {
  await using lab = await createStagedLab()
  const node = await lab.enroll({ deploySteps: deploy_steps })
  await node.makeAvailable()
  const asked = await Promise.allSettled([
    node.provision('active', { deploy_steps }),
    node.provision('active', { deploy_steps }),
  ])
  expect(asked.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
  const refusal = asked.find((one) => one.status === 'rejected')!
  // Locked, or already in another state: both say to come back later.
  expect([400, 409]).toContain((refusal.reason as { status: number }).status)
  expect(await node.settled()).toMatchObject(ACTIVE)
})

test('an inspection that is aborted can be begun anew', async () => {
  await using lab = await createStagedLab({
    machinePace: { power: 0, bootRamdisk: minutes(3), bootDisk: 0, writeRate: 0 },
  })
  const node = await lab.enroll()
  await node.provision('manage')
  await node.settled()
  await node.provision('inspect')
  await node.until(({ provision_state, reservation }) => provision_state === 'inspect wait' && reservation === null)
  await node.provision('abort')
  expect(await node.settled()).toMatchObject({
    provision_state: 'inspect failed',
    last_error: 'Inspection was aborted by request.',
  })
  await node.provision('inspect')
  expect(await node.settled()).toMatchObject({ provision_state: 'manageable', last_error: null })
})

test('a cleaning that is aborted leaves the machine off; cleaning it again succeeds', async () => {
  await using lab = await createStagedLab({
    machinePace: { power: seconds(3), bootRamdisk: minutes(3), bootDisk: 0, writeRate: 0 },
  })
  const node = await lab.enroll()
  await node.provision('manage')
  await node.settled()
  await node.provision('provide')
  await node.until(({ provision_state, reservation }) => provision_state === 'clean wait' && reservation === null)
  await node.provision('abort')
  expect(await node.settled()).toMatchObject({
    provision_state: 'clean failed',
    power_state: 'power off',
    maintenance: false,
    fault: null,
    last_error: 'By request, the clean operation was aborted',
  })
  await node.provision('manage')
  await node.settled()
  await node.provision('provide')
  expect(await node.settled()).toMatchObject({ provision_state: 'available' })
})

test.each([
  ['is switched on again', true, 'power on'],
  ['is left off where the record is to follow', false, 'power off'],
] as const)('a machine switched off behind the back of an active node %s', async (_, forcePowerDuringSync, power) => {
  await using lab = await createStagedLab({ conf: { forcePowerDuringSync } })
  const node = await lab.enroll({ deploySteps: deploy_steps })
  await node.deploy()
  await node.settled()
  await (await machineOf(node)).setPower('off')
  await lab.wait(lab.clock.sleep(minutes(5)))
  expect(await node.get()).toMatchObject({ provision_state: 'active', power_state: power })
  await lab.client.power(node.uuid, 'power on')
  expect(await node.settled()).toMatchObject({ power_state: 'power on' })
  expect((await machineOf(node)).boot()).toMatchObject({ outcome: 'disk' })
})
