import { describe, expect, test } from 'vitest'
import { createStagedLab, installCoreos, type StagedLab, type StagedNode } from '../../lab/index.js'
import { minutes, seconds } from '../../base/runtime/index.js'
import { ignition, machineOf, partitionsOf, readDisk } from '../kit/deployed.js'

const deploy_steps = [installCoreos({ ignition })]

const ACTIVE = { provision_state: 'active', last_error: null, maintenance: false, fault: null }

/** A failed installation as Ironic leaves it: powered on, not in maintenance, to be deployed again. */
const DEPLOY_FAILED = {
  provision_state: 'deploy failed',
  target_provision_state: 'active',
  power_state: 'power on',
  maintenance: false,
  fault: null,
  deploy_step: {},
  reservation: null,
}

const stepFailed = (node: StagedNode, why: string) =>
  `Deploy step deploy.install_coreos failed on node ${node.uuid}. coreos-installer failed with code 1: ${why}`

/** The documented way back: ask for the deployment again. */
async function deploysAgain(lab: StagedLab, node: StagedNode): Promise<void> {
  lab.faults.clear()
  await node.provision('active', { deploy_steps })
  expect(await node.settled()).toMatchObject(ACTIVE)
  expect((await machineOf(node)).firstBoot()).toMatchObject({ failure: null, files: ['/etc/motd', '/etc/hostname'] })
}

describe('coreos-installer', () => {
  test('fails: its first error is told, and the node deploys when asked again', async () => {
    await using lab = await createStagedLab()
    const node = await lab.enroll({ deploySteps: deploy_steps })
    const stderr =
      'Error: reading image\n\nCaused by:\n    no such image\n\nResetting partition table\nError: install failed\n'
    lab.faults.add({ match: { program: 'coreos-installer' }, effect: { kind: 'exit-code', code: 1, stderr } })
    await node.deploy()

    expect(await node.settled()).toMatchObject({
      ...DEPLOY_FAILED,
      last_error: stepFailed(node, 'Error: reading image: no such image'),
    })
    expect(await partitionsOf(node)).toEqual([])
    await deploysAgain(lab, node)
  })

  test('fails once for a reason that may pass: nobody notices', async () => {
    await using lab = await createStagedLab()
    const node = await lab.enroll({ deploySteps: deploy_steps })
    const stderr =
      'Error: checking for exclusive access to /dev/sda\n\nCaused by:\n    EBUSY: Device or resource busy\n'
    const effect = { kind: 'exit-code', code: 1, stderr } as const
    lab.faults.add({ match: { program: 'coreos-installer' }, effect, times: 1 })
    await node.deploy()
    expect(await node.settled()).toMatchObject(ACTIVE)
  })

  test('says it succeeded without having done anything: the disk is read back', async () => {
    await using lab = await createStagedLab()
    const node = await lab.enroll({ deploySteps: deploy_steps })
    lab.faults.add({ match: { program: 'coreos-installer' }, effect: { kind: 'exit-code', code: 0 } })
    await node.deploy()
    expect(await node.settled()).toMatchObject({
      ...DEPLOY_FAILED,
      last_error: expect.stringContaining('coreos-installer succeeded, but the disk is not as asked'),
    })
    await deploysAgain(lab, node)
  })

  test('takes twice the callback timeout: heartbeats keep the deployment alive', async () => {
    await using lab = await createStagedLab()
    const node = await lab.enroll({ deploySteps: deploy_steps })
    lab.faults.add({ match: { program: 'coreos-installer' }, effect: { kind: 'delay', ms: minutes(60) } })
    await node.deploy()
    expect(await node.settled()).toMatchObject(ACTIVE)
    expect(lab.clock.elapsed()).toBeGreaterThanOrEqual(minutes(60))
  })
})

describe('a disk', () => {
  test.each(['described', 'file'] as const)(
    '(%s) whose accesses are slow delays the deployments of its lab',
    async (disks) => {
      await using lab = await createStagedLab({ disks })
      const nodes = [await lab.enroll({ deploySteps: deploy_steps }), await lab.enroll({ deploySteps: deploy_steps })]
      for (const node of nodes) await node.makeAvailable()
      const before = lab.clock.elapsed()
      for (const { uuid } of nodes)
        lab.faults.add({ match: { node: uuid, disk: 'sda' }, effect: { kind: 'delay', ms: 100 } })
      await Promise.all(nodes.map((node) => node.deploy()))
      for (const node of nodes) expect(await node.settled()).toMatchObject(ACTIVE)
      expect(lab.clock.elapsed() - before).toBeGreaterThan(seconds(10))
    },
  )

  test.each([
    ['at its first byte', 0],
    ['in the partition table', 1024],
    ['in the boot partition', 20 * 2 ** 20],
  ])('that is broken %s fails the deployment and holds nothing that boots', async (_, at) => {
    await using lab = await createStagedLab({ disks: 'file' })
    const node = await lab.enroll({ deploySteps: deploy_steps })
    await node.makeAvailable()
    lab.faults.add({ match: { node: node.uuid, disk: 'sda' }, effect: { kind: 'disk-error', at } })
    await node.deploy()

    const failed = await node.settled()
    expect(failed).toMatchObject(DEPLOY_FAILED)
    expect(failed.last_error).toMatch(/Input\/output error|I\/O error/i)
    const { boot } = await readDisk(lab, node)
    expect(boot).toBeNull()
    await deploysAgain(lab, node)
  })

  test('that is broken while it is erased fails the cleaning; the node comes back by way of manageable', async () => {
    await using lab = await createStagedLab()
    const node = await lab.enroll()
    await node.provision('manage')
    await node.settled()
    lab.faults.add({ match: { node: node.uuid, disk: 'sdb' }, effect: { kind: 'disk-error', at: 0 } })
    await node.provision('provide')

    const failed = await node.settled()
    expect(failed).toMatchObject({
      provision_state: 'clean failed',
      target_provision_state: 'available',
      maintenance: true,
      fault: 'clean failure',
      power_state: 'power on',
      maintenance_reason: failed.last_error,
    })
    expect(failed.last_error).toMatch(
      /^Clean step deploy.erase_devices_metadata failed on node .*\/dev\/sdb.*Input\/output/,
    )

    lab.faults.clear()
    await lab.client.setMaintenance(node.uuid, false)
    await node.provision('manage')
    await node.settled()
    await node.provision('provide')
    expect(await node.settled()).toMatchObject({ provision_state: 'available', maintenance: false, fault: null })
  })
})

describe('a route of Ironic', () => {
  test.each([
    ['GET /v1/lookup', 503],
    ['GET /v1/lookup', 409],
    ['POST /v1/continue_inspection', 503],
    ['POST /v1/heartbeat', 503],
    ['POST /v1/heartbeat', 409],
    ['GET /', 503],
  ])('%s that answers %d for a while delays the agent', async (route, status) => {
    await using lab = await createStagedLab()
    const node = await lab.enroll({ deploySteps: deploy_steps })
    // Not the client: only the agents call these, but for the root.
    lab.faults.add({ match: { route, machine: 'machine-1' }, effect: { kind: 'status', status }, times: 3 })
    await node.deploy()
    expect(await node.settled()).toMatchObject(ACTIVE)
  })

  test('that stays unusable fails what waits for the agent', async () => {
    await using lab = await createStagedLab()
    const node = await lab.enroll({ deploySteps: deploy_steps })
    await node.makeAvailable()
    const effect = { kind: 'status', status: 503 } as const
    lab.faults.add({ match: { route: 'POST /v1/heartbeat', node: node.uuid }, effect })
    await node.deploy()
    expect(await node.settled()).toMatchObject({
      ...DEPLOY_FAILED,
      last_error: `Timeout reached while waiting for callback for node ${node.uuid}`,
    })
    await deploysAgain(lab, node)
  })

  test('continue_inspection that refuses leaves the inspection to its timeout', async () => {
    await using lab = await createStagedLab()
    const node = await lab.enroll()
    await node.provision('manage')
    await node.settled()
    lab.faults.add({ match: { route: '/v1/continue_inspection' }, effect: { kind: 'status', status: 503 } })
    await node.provision('inspect')
    expect(await node.settled()).toMatchObject({
      provision_state: 'inspect failed',
      last_error: expect.stringContaining('Timeout reached while inspecting the node'),
    })
    lab.faults.clear()
    await node.provision('inspect')
    expect(await node.settled()).toMatchObject({ provision_state: 'manageable', last_error: null })
  })

  test('that is slow delays the agent', async () => {
    await using lab = await createStagedLab()
    const node = await lab.enroll({ deploySteps: deploy_steps })
    lab.faults.add({ match: { route: '/v1/heartbeat', node: node.uuid }, effect: { kind: 'delay', ms: seconds(20) } })
    await node.deploy()
    expect(await node.settled()).toMatchObject(ACTIVE)
    expect(lab.clock.elapsed()).toBeGreaterThan(seconds(60))
  })
})

describe('commands to the agent', () => {
  test.each([1, 2])('that are lost %d times are sent again', async (times) => {
    await using lab = await createStagedLab()
    const node = await lab.enroll({ deploySteps: deploy_steps })
    await node.makeAvailable()
    lab.faults.add({ match: { node: node.uuid, route: 'POST /v1/commands' }, effect: { kind: 'agent-silent' }, times })
    await node.deploy()
    expect(await node.settled()).toMatchObject(ACTIVE)
  })

  test('that are answered by something else than an agent fail the deployment, saying what came', async () => {
    await using lab = await createStagedLab()
    const node = await lab.enroll({ deploySteps: deploy_steps })
    await node.makeAvailable()
    const effect = { kind: 'status', status: 502, body: '<html>Bad Gateway</html>' } as const
    lab.faults.add({ match: { node: node.uuid, route: 'POST /v1/commands' }, effect })
    await node.deploy()
    const failed = await node.settled()
    // Upstream switches a machine off whose agent it cannot talk to.
    expect(failed).toMatchObject({ ...DEPLOY_FAILED, power_state: 'power off' })
    expect(failed.last_error).toMatch(/in-band deploy steps: Unable to decode response as JSON\..*Bad Gateway/s)
    await deploysAgain(lab, node)
  })
})
