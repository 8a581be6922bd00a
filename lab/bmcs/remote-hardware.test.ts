import { expect, test } from 'vitest'
import { LabClock, Probe, silent, systemRandom, seededRandom } from '../../base/runtime/index.js'
import { openFleet } from '../../apps/fleet/index.js'
import { readFleet } from '../../machine/index.js'
import { aNode } from '../../test/kit/ironic-records.js'
import { openBootFiles } from '../images/boot-files.js'
import { openRemoteBmcs } from './remote-bmcs.js'

const ACCOUNT = { username: 'admin', password: 'the "password"' }

/** Two machines with a RAID controller, and the BMC of the first over the network. */
async function remote() {
  const clock = new LabClock({ mode: 50 })
  const common = { clock, random: systemRandom, logger: silent }
  const disks = Array.from({ length: 2 }, () => ({ size: '480GB', transport: 'sas', rotational: false }))
  const hardware = readFleet({ machines: [{ count: 2, disks }] }, 'the machines of this test')
  const fleet = await openFleet({ count: 2, hardware, redfish: { port: 0 }, account: ACCOUNT, ...common })
  const place = { host: '127.0.0.1', port: 0, advertise: '127.0.0.1', allowedHosts: [], folder: null }
  const files = await openBootFiles({ ...place, ...common })
  const bmcs = openRemoteBmcs({ files, probe: new Probe(), clock, random: seededRandom(1), powerTimeout: 30_000 })
  const { bmc: address, system, account } = fleet.hosts()[0]!
  const node = aNode({
    uuid: 'the-node',
    driver: 'redfish',
    boot_interface: 'redfish-virtual-media',
    driver_info: {
      redfish_address: address,
      redfish_system_id: system,
      redfish_username: account.username,
      redfish_password: account.password,
    },
  })
  return {
    hardware: (await bmcs.of(node, [])).hardware!,
    bmc: await bmcs.of(node, []),
    files,
    machine: fleet.machines.get('machine-1')!,
    [Symbol.asyncDispose]: async () => {
      await bmcs[Symbol.asyncDispose]()
      await files[Symbol.asyncDispose]()
      await fleet[Symbol.asyncDispose]()
    },
  }
}

test('reports of firmware and hardware are those of the machine', async () => {
  await using there = await remote()
  const { spec, firmware } = there.machine
  const report = await there.hardware.report()
  const own = firmware.report()
  expect(report).toMatchObject({ bootMode: own.bootMode, vendor: spec.manufacturer, health: 'OK', secureBoot: false })
  expect(report.bios.find(({ name }) => name === 'ProcTurboMode')).toMatchObject({
    type: 'Enumeration',
    allowed: ['Enabled', 'Disabled'],
    readOnly: false,
  })
  expect(new Map(report.firmware.map(({ component, version }) => [component, version]))).toEqual(
    new Map(own.firmware.map(({ component, version }) => [component, version])),
  )
  expect(await there.hardware.system()).toMatchObject({
    serial: spec.serial,
    memoryMib: spec.memoryMib,
    cpu: { count: spec.cpus, architecture: 'x86_64' },
    nics: spec.nics.map(({ name, mac }) => ({ name, mac })),
    disks: spec.disks.map(({ size, serial }) => ({ size, serial })),
  })
})

test('changes reach the machine: firmware, settings, modes, volumes, indicators, media, subscriptions', async () => {
  await using there = await remote()
  const { hardware, machine } = there
  const { firmware } = machine
  await hardware.change({ change: 'bios', settings: { ProcTurboMode: 'Disabled' } })
  expect(firmware.pendingBios).toEqual({ ProcTurboMode: 'Disabled' })
  await hardware.change({ change: 'bios defaults' })
  await hardware.change({ change: 'secure boot', on: true })
  expect(firmware.report().secureBoot).toBe(true)
  await hardware.change({ change: 'boot mode', mode: 'bios' })
  expect(firmware.bootMode).toBe('bios')
  await hardware.change({ change: 'volumes', volumes: [{ raid_level: '1', size_gb: 10, volume_name: 'root' }] })
  expect(firmware.volumes).toMatchObject([{ raid_level: '1', size_gb: 10, volume_name: 'root' }])
  await hardware.change({ change: 'volumes', volumes: [] })
  expect(firmware.volumes).toEqual([])
  const indicators = await hardware.indicators()
  const [name] = Object.keys(indicators['system']!)
  await hardware.change({ change: 'indicator', component: 'system', name: name!, state: 'blinking' })
  expect(await hardware.indicator('system', name!)).toBe('blinking')
  const url = `${there.files.url}/kernel?name=a%20%22quoted%22%20name`
  await hardware.change({ change: 'insert media', device: 'disk', url })
  expect((await hardware.media()).filter(({ inserted }) => inserted)).toMatchObject([{ image: url }])
  await hardware.change({ change: 'eject media', devices: null })
  expect((await hardware.media()).some(({ inserted }) => inserted)).toBe(false)
  await hardware.change({ change: 'firmware', component: 'bios', url: `${there.files.url}/kernel` })
  await hardware.change({ change: 'nmi' }).catch((error: unknown) => expect(error).toMatchObject({ why: 'refused' }))
  const wanted = { Context: 'c', Protocol: 'Redfish', Destination: 'http://192.0.2.1/e', EventTypes: ['Alert'] }
  const { Id: id } = await hardware.subscribe(wanted)
  expect((await hardware.subscriptions()).map(({ Id }) => Id)).toContain(id)
  await hardware.unsubscribe(id)
  expect(await hardware.subscriptions()).toEqual([])
  await there.bmc.setPower('rebooting')
  expect(await there.bmc.power()).toBe('power on')
})
