import { describe, expect, test } from 'vitest'
import { manageableNode } from '../../../test/kit/conductor/scripted-lab.js'

describe('power', () => {
  test.each([
    ['power on', 'power on', 'power on'],
    ['power off', 'power off', 'power off'],
    ['rebooting', 'power on', 'power on'],
    ['soft power off', 'power off', 'power off'],
    ['soft rebooting', 'power on', 'power on'],
  ] as const)('%s shows target %s and ends in %s', async (target, shown, end) => {
    const { lab, uuid } = await manageableNode()
    await lab.conductor.changePower(uuid, target)
    const during = lab.seen.at(-1)!.node
    expect(during).toMatchObject({ target_power_state: shown, reservation: 'lab', last_error: null })
    const after = await lab.until(uuid, (node) => node.reservation === null)
    expect(after).toMatchObject({ power_state: end, target_power_state: null, last_error: null })
  })

  test('a machine that refuses a soft power off stays on', async () => {
    const { lab, uuid, machine } = await manageableNode()
    await lab.conductor.changePower(uuid, 'power on')
    await lab.until(uuid, (node) => node.reservation === null)
    const set = machine.setPower.bind(machine)
    machine.setPower = (target) => (target.startsWith('soft') ? Promise.reject(new Error('no ACPI')) : set(target))
    await lab.conductor.changePower(uuid, 'soft power off')
    expect(await lab.until(uuid, (node) => node.reservation === null)).toMatchObject({
      power_state: 'power on',
      last_error: "Failed to change power state to 'power off' by 'soft power off': no ACPI",
    })
  })

  test.each([
    ['from the request', 180, 180],
    ['from soft_power_off_timeout', undefined, 600],
  ])('a soft power off that does not end fails after the time %s', async (_, timeout, seconds) => {
    const { lab, uuid, machine } = await manageableNode()
    machine.state = 'power on'
    machine.setPower = () => new Promise(() => {})
    const begun = lab.clock.elapsed()
    await lab.conductor.changePower(uuid, 'soft power off', timeout)
    const node = await lab.until(uuid, (n) => n.reservation === null)
    expect(node.last_error).toContain('Failed to set node power state to power off.')
    expect(lab.clock.elapsed() - begun).toBe(seconds * 1000)
  })

  test('a failure is in last_error, and the next request clears it', async () => {
    const { lab, uuid, machine } = await manageableNode()
    machine.failing = 'no route to host'
    await lab.conductor.changePower(uuid, 'rebooting')
    expect(await lab.until(uuid, (node) => node.reservation === null)).toMatchObject({
      last_error: "Failed to change power state to 'power on' by 'rebooting': no route to host",
      target_power_state: null,
    })
    machine.failing = undefined
    await lab.conductor.changePower(uuid, 'power on')
    expect(await lab.until(uuid, (node) => node.reservation === null)).toMatchObject({
      last_error: null,
      power_state: 'power on',
    })
  })

  test('a power change that takes longer than power_state_change_timeout fails', async () => {
    const { lab, uuid, machine } = await manageableNode()
    machine.setPower = () => new Promise(() => {})
    await lab.conductor.changePower(uuid, 'power on')
    const node = await lab.until(uuid, (n) => n.reservation === null)
    expect(node.last_error).toBe(
      "Failed to change power state to 'power on' by 'power on': Failed to set node power state to power on.",
    )
    expect(lab.clock.elapsed()).toBe(60_000)
  })

  test('other requests during a power change are refused with 409', async () => {
    const { lab, uuid, machine } = await manageableNode()
    let released = (): void => {}
    machine.setPower = () => new Promise((resolve) => (released = resolve))
    await lab.conductor.changePower(uuid, 'power on')
    const locked = {
      status: 409,
      message: `Node ${uuid} is locked by host lab, please retry after the current operation is completed.`,
    }
    await expect(lab.conductor.changePower(uuid, 'power off')).rejects.toMatchObject(locked)
    await expect(lab.conductor.provision(uuid, { target: 'provide' })).rejects.toMatchObject(locked)
    await expect(lab.conductor.updateNode(uuid, () => ({}))).rejects.toMatchObject(locked)
    await expect(lab.conductor.destroyNode(uuid)).rejects.toMatchObject(locked)
    await expect(lab.conductor.setMaintenance(uuid, true)).rejects.toMatchObject(locked)
    released()
    await lab.until(uuid, (node) => node.reservation === null)
  })

  test('a power change is refused for an unknown target, while cleaning, and off with power off disabled', async () => {
    const { lab, uuid, machine } = await manageableNode()
    await expect(lab.conductor.changePower(uuid, 'nosuch')).rejects.toMatchObject({ status: 400 })
    machine.script.silent = true
    await lab.provision(uuid, 'provide', 'clean wait')
    await expect(lab.conductor.changePower(uuid, 'power on')).rejects.toMatchObject({
      status: 400,
      message: `The requested action "power on" can not be performed on node "${uuid}" while it is in state "clean wait".`,
    })
    const other = await lab.enroll({ disable_power_off: true }, '52:54:00:00:00:02')
    await expect(lab.conductor.changePower(other.uuid, 'power off')).rejects.toMatchObject({ status: 400 })
  })
})

test('a change of power or boot mode in a failed state keeps the last error', async () => {
  const { lab, uuid, machine } = await manageableNode()
  machine.script.inventory = { interfaces: [] }
  const { last_error: error } = await lab.provision(uuid, 'inspect', 'inspect failed')
  expect(error).not.toBeNull()
  await lab.conductor.changePower(uuid, 'power on')
  expect(await lab.until(uuid, (node) => node.reservation === null)).toMatchObject({ last_error: error })
  await lab.conductor.hardware.setBootMode(uuid, 'bios')
  expect(lab.seen.at(-1)!.node.last_error).not.toBeNull()
})
