import { describe, expect, test } from 'vitest'
import { ScriptedLab } from '../../../test/kit/conductor/scripted-lab.js'
import type { JsonObject } from '../../../wire/index.js'
import { bmcError } from '../../drivers/bmc-error.js'
import { BmcRefused } from '../../drivers/bmc-refused.js'
import type { Heartbeat } from '../core/conductor.js'

async function manageable(fields: JsonObject = {}, policy = {}) {
  const lab = await ScriptedLab.open({ policy })
  const { uuid, machine } = await lab.enroll(fields)
  await lab.provision(uuid, 'manage', 'manageable')
  return { lab, uuid, machine }
}

describe('verification', () => {
  test('a BMC that nobody is behind', async () => {
    const lab = await ScriptedLab.open()
    const node = await lab.conductor.createNode({
      driver: 'redfish',
      driver_info: { redfish_address: 'http://nowhere' },
    })
    expect(
      await lab.provision(node.uuid, 'manage', 'enroll').then(() => lab.until(node.uuid, (n) => n.last_error !== null)),
    ).toMatchObject({
      provision_state: 'enroll',
      last_error: `Failed to get power state for node ${node.uuid}. Error: nobody answers there`,
    })
  })

  test.each([
    ['redfish', {}, "driver_info: ['redfish_address']"],
    ['redfish', { redfish_address: 'http://' }, 'Invalid redfish address'],
    ['ipmi', {}, "Missing the following IPMI credentials in node's driver_info: ['ipmi_address']."],
  ])('%s with driver_info %o', async (driver, driver_info, problem) => {
    const lab = await ScriptedLab.open()
    const { uuid } = await lab.conductor.createNode({ driver, driver_info })
    await lab.conductor.provision(uuid, { target: 'manage' })
    expect(await lab.node(uuid)).toMatchObject({
      provision_state: 'enroll',
      last_error: expect.stringContaining(problem) as string,
    })
    expect((await lab.conductor.validate(uuid)).power).toMatchObject({ result: false })
  })

  test('the power that was read is kept', async () => {
    const { lab, uuid } = await manageable()
    expect(await lab.node(uuid)).toMatchObject({ power_state: 'power off', target_provision_state: null })
  })
})

describe('power', () => {
  test.each([
    ['power on', 'power on', 'power on'],
    ['power off', 'power off', 'power off'],
    ['rebooting', 'power on', 'power on'],
    ['soft power off', 'power off', 'power off'],
    ['soft rebooting', 'power on', 'power on'],
  ] as const)('%s shows target %s and ends in %s', async (target, shown, end) => {
    const { lab, uuid } = await manageable()
    await lab.conductor.changePower(uuid, target)
    const during = lab.seen.at(-1)!.node
    expect(during).toMatchObject({ target_power_state: shown, reservation: 'lab', last_error: null })
    const after = await lab.until(uuid, (node) => node.reservation === null)
    expect(after).toMatchObject({ power_state: end, target_power_state: null, last_error: null })
  })

  test('a machine that refuses to go softly stays on', async () => {
    const { lab, uuid, machine } = await manageable()
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
    ['of its own', 180, 180],
    ['as configured', undefined, 600],
  ])('one that does not come to an end softly is given up after a time %s', async (_, timeout, seconds) => {
    const { lab, uuid, machine } = await manageable()
    machine.state = 'power on'
    machine.setPower = () => new Promise(() => {})
    const begun = lab.clock.elapsed()
    await lab.conductor.changePower(uuid, 'soft power off', timeout)
    const node = await lab.until(uuid, (n) => n.reservation === null)
    expect(node.last_error).toContain('Failed to set node power state to power off.')
    expect(lab.clock.elapsed() - begun).toBe(seconds * 1000)
  })

  test('a failure is in last_error, and gone with the next try', async () => {
    const { lab, uuid, machine } = await manageable()
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

  test('one that takes too long', async () => {
    const { lab, uuid, machine } = await manageable()
    machine.setPower = () => new Promise(() => {})
    await lab.conductor.changePower(uuid, 'power on')
    const node = await lab.until(uuid, (n) => n.reservation === null)
    expect(node.last_error).toBe(
      "Failed to change power state to 'power on' by 'power on': Failed to set node power state to power on.",
    )
    expect(lab.clock.elapsed()).toBe(60_000)
  })

  test('while one is going on everything else is told that the node is locked', async () => {
    const { lab, uuid, machine } = await manageable()
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

  test('is refused for an unknown target, while cleaning, and off where that is forbidden', async () => {
    const { lab, uuid, machine } = await manageable()
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

describe('the periodic look at power', () => {
  const SYNC = { powerSyncInterval: 120_000, powerFailureRecoveryInterval: 300_000 }
  const looks = async (lab: ScriptedLab, count: number) => {
    for (let i = 0; i < count; i++) await lab.clock.advance(120_000)
  }

  test('sets the machine to what is recorded', async () => {
    const { lab, uuid, machine } = await manageable({}, SYNC)
    machine.state = 'power on'
    await looks(lab, 1)
    expect(machine.state).toBe('power off')
    expect(await lab.node(uuid)).toMatchObject({ power_state: 'power off', last_error: null, reservation: null })
  })

  test('or the record to what the machine is', async () => {
    const { lab, uuid, machine } = await manageable({}, { ...SYNC, forcePowerDuringSync: false })
    machine.state = 'power on'
    await looks(lab, 1)
    expect(await lab.node(uuid)).toMatchObject({ power_state: 'power on', last_error: null })
  })

  test('a machine that may not be switched off is not', async () => {
    const { lab, uuid, machine } = await manageable({ disable_power_off: true }, SYNC)
    machine.state = 'power on'
    await looks(lab, 1)
    expect(await lab.node(uuid)).toMatchObject({ power_state: 'power on' })
  })

  test('a BMC that does not answer four times takes the node out of service, until it answers', async () => {
    const { lab, uuid, machine } = await manageable({}, SYNC)
    machine.failing = 'no route to host'
    await looks(lab, 3)
    expect(await lab.node(uuid)).toMatchObject({ maintenance: false, last_error: null, power_state: 'power off' })
    await looks(lab, 1)
    const reason = `During sync_power_state, max retries exceeded for node ${uuid}, node state None does not match expected state 'power off'. Updating DB state to 'None' Switching node to maintenance mode. Error: no route to host`
    expect(await lab.node(uuid)).toMatchObject({
      maintenance: true,
      maintenance_reason: reason,
      last_error: reason,
      fault: 'power failure',
      power_state: null,
    })
    await looks(lab, 3)
    expect(await lab.node(uuid)).toMatchObject({ fault: 'power failure' })
    machine.failing = undefined
    await lab.clock.advance(300_000)
    expect(await lab.node(uuid)).toMatchObject({
      maintenance: false,
      maintenance_reason: null,
      fault: null,
      power_state: 'power off',
    })
  })

  test('a machine that does not stay as it was set counts as well', async () => {
    const { lab, uuid, machine } = await manageable({}, SYNC)
    machine.power = () => Promise.resolve('power on')
    machine.setPower = () => Promise.resolve()
    await looks(lab, 4)
    expect(await lab.node(uuid)).toMatchObject({
      fault: 'power failure',
      power_state: 'power on',
      last_error: expect.stringMatching(/expected state 'power off'.*maintenance mode\.$/) as string,
    })
  })

  test.each<[string, (lab: ScriptedLab, uuid: string) => Promise<unknown>]>([
    ['in maintenance', (lab, uuid) => lab.conductor.setMaintenance(uuid, true)],
    ['waiting for the agent', (lab, uuid) => lab.provision(uuid, 'provide', 'clean wait')],
  ])('leaves a node alone that is %s', async (_, prepare) => {
    const { lab, uuid, machine } = await manageable({}, SYNC)
    machine.script.silent = true
    await prepare(lab, uuid)
    const { power_state } = await lab.node(uuid)
    machine.state = machine.state === 'power on' ? 'power off' : 'power on'
    await looks(lab, 5)
    expect(await lab.node(uuid)).toMatchObject({ power_state, fault: null })
  })

  test('forgets an error once all is well, but not that of a state that failed', async () => {
    const { lab, uuid, machine } = await manageable({}, SYNC)
    machine.failing = 'gone'
    await lab.conductor.changePower(uuid, 'power on')
    await lab.until(uuid, (node) => node.reservation === null)
    machine.failing = undefined
    expect((await lab.node(uuid)).last_error).not.toBeNull()
    await looks(lab, 1)
    expect((await lab.node(uuid)).last_error).toBeNull()
    machine.script.inventory = { interfaces: [] }
    await lab.provision(uuid, 'inspect', 'inspect failed')
    await looks(lab, 2)
    expect((await lab.node(uuid)).last_error).not.toBeNull()
  })
})

test('a state that failed keeps its error while the power or the boot mode is changed', async () => {
  const { lab, uuid, machine } = await manageable()
  machine.script.inventory = { interfaces: [] }
  const { last_error: error } = await lab.provision(uuid, 'inspect', 'inspect failed')
  expect(error).not.toBeNull()
  await lab.conductor.changePower(uuid, 'power on')
  expect(await lab.until(uuid, (node) => node.reservation === null)).toMatchObject({ last_error: error })
  await lab.conductor.hardware.setBootMode(uuid, 'bios')
  expect(lab.seen.at(-1)!.node.last_error).not.toBeNull()
})

describe('how a BMC that refuses is worded', () => {
  test.each([
    [
      'redfish',
      'unreachable',
      'Redfish connection failed for node u: Unable to connect to http://bmc/redfish/v1/. Error: refused',
    ],
    [
      'redfish',
      'unauthorized',
      'Redfish exception occurred. Error: HTTP GET http://bmc/redfish/v1/Systems returned code 401. Base.1.0.GeneralError: refused Extended information: None',
    ],
    ['ipmitool', 'unreachable', 'IPMI call failed: power status.'],
  ] as const)('%s, %s', (power_interface, why, sentence) => {
    const node = { uuid: 'u', power_interface, driver_info: { redfish_address: 'http://bmc/' } }
    expect(bmcError(node, new BmcRefused(why, 'refused'))).toBe(sentence)
  })
})

describe('lookup', () => {
  test('the token is said once a boot', async () => {
    const { lab, uuid, machine } = await manageable()
    machine.script.silent = true
    await lab.provision(uuid, 'provide', 'clean wait')
    const first = await lab.conductor.lookup(uuid, { issueToken: true })
    expect(String(first.config.agent_token)).toMatch(/^[\w-]{43}$/)
    expect(first.config).toMatchObject({
      agent_token_required: true,
      heartbeat_timeout: 300,
      agent_skip_bmc_detect: true,
    })
    expect((await lab.conductor.lookup(uuid, { issueToken: true })).config.agent_token).toBe('******')
    expect((await lab.conductor.lookup(uuid, { issueToken: false })).config.agent_token).toBeNull()
  })

  test('nobody is there in enroll, manageable and available', async () => {
    const { lab, uuid } = await manageable({ automated_clean: false })
    await expect(lab.conductor.lookup(uuid, { issueToken: true })).rejects.toMatchObject({ status: 404 })
    await lab.provision(uuid, 'provide', 'available')
    await expect(lab.conductor.lookup(uuid, { issueToken: true })).rejects.toMatchObject({ status: 404 })
  })
})

describe('heartbeat', () => {
  const waiting = async (policy = {}) => {
    const made = await manageable({}, policy)
    made.machine.script.silent = true
    await made.lab.provision(made.uuid, 'provide', 'clean wait')
    const { config } = await made.lab.conductor.lookup(made.uuid, { issueToken: true })
    const good: Heartbeat = {
      callback_url: 'http://127.0.0.1:1',
      agent_version: '13.0.0',
      agent_token: String(config.agent_token),
    }
    return { ...made, good }
  }

  test.each<[string, Partial<Record<keyof Heartbeat, string | undefined>>, string]>([
    [
      'a callback that is no URL',
      { callback_url: 'x', agent_token: undefined },
      'An issue with the supplied "callback_url" has been detected.',
    ],
    [
      'an unknown status',
      { agent_status: 'nosuch', agent_version: undefined },
      'Agent status is invalid. Valid states are start,end,error.',
    ],
    ['no version', { agent_version: undefined, agent_token: 'wrong' }, 'Agent did not transmit a version'],
    ['a wrong token', { agent_token: 'wrong' }, 'Invalid or missing agent token received.'],
  ])('%s is refused before what comes later', async (_, wrong, message) => {
    const { lab, uuid, good } = await waiting()
    const heartbeat = { ...good, ...wrong } as Heartbeat
    await expect(lab.conductor.heartbeat(uuid, heartbeat)).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining(message) as string,
    })
  })

  test('plain HTTP where TLS is required', async () => {
    const { lab, uuid, good } = await waiting({ requireTls: true })
    await expect(lab.conductor.heartbeat(uuid, good)).rejects.toMatchObject({
      message: 'TLS is required by configuration',
    })
  })

  test('another callback URL than before', async () => {
    const { lab, uuid, good, machine } = await waiting()
    machine.script.reachable = true
    await lab.conductor.heartbeat(uuid, good)
    await expect(lab.conductor.heartbeat(uuid, { ...good, callback_url: 'http://127.0.0.1:2' })).rejects.toMatchObject({
      message: 'Detected change in ramdisk provided "callback_url"',
    })
    await lab.until(uuid, 'clean failed')
  })

  test('is accepted and forgotten where no agent is expected', async () => {
    const { lab, uuid, good } = await waiting()
    await lab.provision(uuid, 'abort', 'clean failed')
    await expect(lab.conductor.heartbeat(uuid, good)).rejects.toMatchObject({ status: 400 })
  })

  test('one that comes while the node is reserved is taken up as soon as it is free', async () => {
    const { lab, uuid, machine } = await manageable()
    // The step ends, and the agent says so, before the conductor has written down that it began.
    machine.script.run = () => null
    const begun = lab.clock.elapsed()
    await lab.provision(uuid, 'provide', 'available')
    expect(lab.clock.elapsed() - begun).toBeLessThan(1000)
  })
})
