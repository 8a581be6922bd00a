import { describe, expect, test } from 'vitest'
import { minutes } from '../../../runtime/index.js'
import { ScriptedLab } from '../../../test/kit/conductor/scripted-lab.js'
import type { HardwareReport } from '../../drivers/hardware.js'

async function manageable(policy = {}) {
  const lab = await ScriptedLab.open({ policy })
  const { uuid, machine } = await lab.enroll()
  await lab.provision(uuid, 'manage', 'manageable')
  return { lab, uuid, machine }
}

describe('what a BMC tells besides the power', () => {
  const REPORT: HardwareReport = {
    ...{ bootMode: 'uefi', secureBoot: false, vendor: 'v', health: 'OK', bios: [] },
    firmware: [{ component: 'bmc', version: '1', vendor: null, model: null, serial: null }],
  }
  const telling = async (policy = {}) => {
    const made = await manageable({ powerSyncInterval: minutes(2), ...policy })
    let report = REPORT
    Object.assign(made.machine, { hardware: { report: () => Promise.resolve(report) } })
    return { ...made, tell: (more: Partial<HardwareReport>) => void (report = { ...report, ...more }) }
  }

  test('is looked at with it: health and modes follow the machine, and versions do not', async () => {
    const { lab, uuid, tell } = await telling()
    await lab.clock.advance(minutes(2))
    expect(await lab.node(uuid)).toMatchObject({ health: 'OK', secure_boot: false })
    tell({ health: 'Critical', secureBoot: true })
    await lab.clock.advance(minutes(2))
    expect(await lab.node(uuid)).toMatchObject({ health: 'Critical', secure_boot: true })
    expect(await lab.store.sheet(uuid, 'firmware')).toEqual([])
  })

  test('health only where the operator wants it', async () => {
    const { lab, uuid } = await telling({ enableHealthMonitoring: false })
    await lab.clock.advance(minutes(2))
    expect(await lab.node(uuid)).toMatchObject({ health: null, boot_mode: 'uefi' })
  })

  test('versions once more after an inspection: some parts are known only once the machine was on', async () => {
    const { lab, uuid } = await telling()
    await lab.provision(uuid, 'inspect', ({ inspection_finished_at }) => inspection_finished_at !== null)
    expect(await lab.store.sheet(uuid, 'firmware')).toMatchObject([{ component: 'bmc', current_version: '1' }])
  })
})
