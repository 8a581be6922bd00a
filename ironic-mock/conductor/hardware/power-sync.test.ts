import { describe, expect, test } from 'vitest'
import { minutes } from '../../../base/runtime/index.js'
import { manageableNode, type ScriptedLab } from '../../../test/kit/conductor/scripted-lab.js'
import type { HardwareReport } from '../../drivers/bmc-hardware.js'

describe('the hardware report of a BMC', () => {
  const REPORT: HardwareReport = {
    bootMode: 'uefi',
    secureBoot: false,
    vendor: 'v',
    health: 'OK',
    bios: [],
    firmware: [{ component: 'bmc', version: '1', vendor: null, model: null, serial: null }],
  }
  const telling = async (conf = {}) => {
    const made = await manageableNode({}, { powerSyncInterval: minutes(2), ...conf })
    let report = REPORT
    Object.assign(made.machine, { hardware: { report: () => Promise.resolve(report) } })
    return { ...made, tell: (more: Partial<HardwareReport>) => void (report = { ...report, ...more }) }
  }

  test('is read in a power sync: health and modes follow the machine, versions do not', async () => {
    const { lab, uuid, tell } = await telling()
    await lab.clock.advance(minutes(2))
    expect(await lab.node(uuid)).toMatchObject({ health: 'OK', secure_boot: false })
    tell({ health: 'Critical', secureBoot: true })
    await lab.clock.advance(minutes(2))
    expect(await lab.node(uuid)).toMatchObject({ health: 'Critical', secure_boot: true })
    expect(await lab.store.nodeList(uuid, 'firmware')).toEqual([])
  })

  test('has health only with enable_health_monitoring', async () => {
    const { lab, uuid } = await telling({ enableHealthMonitoring: false })
    await lab.clock.advance(minutes(2))
    expect(await lab.node(uuid)).toMatchObject({ health: null, boot_mode: 'uefi' })
  })

  test('is read again after an inspection, since some versions are known only once the machine was on', async () => {
    const { lab, uuid } = await telling()
    await lab.provision(uuid, 'inspect', ({ inspection_finished_at }) => inspection_finished_at !== null)
    expect(await lab.store.nodeList(uuid, 'firmware')).toMatchObject([{ component: 'bmc', current_version: '1' }])
  })
})

describe('the power sync', () => {
  const SYNC = { powerSyncInterval: 120_000, powerFailureRecoveryInterval: 300_000 }
  const looks = async (lab: ScriptedLab, count: number) => {
    for (let i = 0; i < count; i++) await lab.clock.advance(120_000)
  }

  test('sets the machine to the recorded power', async () => {
    const { lab, uuid, machine } = await manageableNode({}, SYNC)
    machine.state = 'power on'
    await looks(lab, 1)
    expect(machine.state).toBe('power off')
    expect(await lab.node(uuid)).toMatchObject({ power_state: 'power off', last_error: null, reservation: null })
  })

  test('without force_power_state_during_sync sets the record to the power of the machine', async () => {
    const { lab, uuid, machine } = await manageableNode({}, { ...SYNC, forcePowerDuringSync: false })
    machine.state = 'power on'
    await looks(lab, 1)
    expect(await lab.node(uuid)).toMatchObject({ power_state: 'power on', last_error: null })
  })

  test('does not power off a machine with power off disabled', async () => {
    const { lab, uuid, machine } = await manageableNode({ disable_power_off: true }, SYNC)
    machine.state = 'power on'
    await looks(lab, 1)
    expect(await lab.node(uuid)).toMatchObject({ power_state: 'power on' })
  })

  test('puts a node whose BMC fails four times into maintenance, until the BMC answers', async () => {
    const { lab, uuid, machine } = await manageableNode({}, SYNC)
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

  test('counts a machine whose power changes back as a failure', async () => {
    const { lab, uuid, machine } = await manageableNode({}, SYNC)
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
  ])('does not change a node that is %s', async (_, prepare) => {
    const { lab, uuid, machine } = await manageableNode({}, SYNC)
    machine.script.silent = true
    await prepare(lab, uuid)
    const { power_state } = await lab.node(uuid)
    machine.state = machine.state === 'power on' ? 'power off' : 'power on'
    await looks(lab, 5)
    expect(await lab.node(uuid)).toMatchObject({ power_state, fault: null })
  })

  test('clears the last error when the power is right, except in a failed state', async () => {
    const { lab, uuid, machine } = await manageableNode({}, SYNC)
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
