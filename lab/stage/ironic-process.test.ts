import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createStagedLab, installCoreos, type StagedLab } from '../create-lab.js'

let lab: StagedLab
beforeEach(async () => {
  lab = await createStagedLab({ clock: 'auto', conf: { fastTrack: true } })
})
afterEach(() => lab[Symbol.asyncDispose]())

const ignition = { ignition: { version: '3.4.0' } }

describe('an Ironic that is stopped and started again without its database', () => {
  test('machines stay in their boot and the clock continues, their agents are told that their node is unknown', async () => {
    const node = await lab.enroll()
    await node.makeAvailable()
    const machine = (await node.machine())!
    const boot = machine.boot()
    expect(boot).toMatchObject({ outcome: 'ramdisk' })
    const refused: { target: string; status: number }[] = []
    lab.probe.attach(async (point, next) => {
      const answer = await next()
      if (point.kind === 'exchange' && point['from'] === 'agent')
        refused.push({ target: String(point['target']), status: (answer as { status: number }).status })
      return answer
    })

    await lab.ironic.stop({ keepsDatabase: false })
    expect(lab.ironic.isRunning).toBe(false)
    await expect(lab.client.nodes()).rejects.toMatchObject({ status: 503 })
    await lab.wait(lab.clock.sleep(600_000))
    expect(refused.map(({ status }) => status)).toContain(503)
    await lab.ironic.start()
    expect(await lab.client.nodes()).toEqual([])
    await lab.wait(lab.clock.sleep(600_000))
    expect(refused.at(-1)).toMatchObject({ target: expect.stringContaining(`/v1/heartbeat/${node.uuid}`), status: 404 })
    expect(machine.boot()).toBe(boot)
    expect(machine.power()).toBe('on')
  })

  test('the machine is found again by its BMC when somebody registers it, with the account that it has', async () => {
    const first = await lab.enroll({ deploySteps: [installCoreos({ ignition })] })
    await first.deploy()
    expect(await first.settled()).toMatchObject({ provision_state: 'active' })
    const machine = (await first.machine())!
    await lab.ironic.stop({ keepsDatabase: false })
    await lab.ironic.start()
    const second = await lab.enroll({ machine: machine.spec })
    expect(second.uuid).not.toBe(first.uuid)
    await second.provision('manage')
    expect(await second.settled()).toMatchObject({ provision_state: 'manageable', power_state: 'power on' })
    expect(machine.boot()).toMatchObject({ outcome: 'disk' })
    await second.provision('adopt')
    expect(await second.settled()).toMatchObject({ provision_state: 'active' })
  })

  test('work that was in progress ends with it, and leaves nothing that keeps the clock', async () => {
    const node = await lab.enroll({ deploySteps: [installCoreos({ ignition })] })
    await node.deploy()
    const gone = node.settled().catch((error: unknown) => error)
    await lab.ironic.stop({ keepsDatabase: false })
    expect(await gone).toMatchObject({ status: 404 })
    await lab.wait(lab.clock.sleep(3_600_000))
    await lab.ironic.start()
    await lab.ironic.start()
    expect(await lab.client.nodes()).toEqual([])
  })
})

test('with its database it continues where it stopped', async () => {
  const node = await lab.enroll({ deploySteps: [installCoreos({ ignition })] })
  await node.makeAvailable()
  await lab.ironic.stop({ keepsDatabase: true })
  await lab.ironic.start()
  await node.deploy()
  expect(await node.settled()).toMatchObject({ provision_state: 'active', last_error: null })
})
