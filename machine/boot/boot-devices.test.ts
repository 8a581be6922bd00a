import { describe, expect, test } from 'vitest'
import { bootScene, CD, ironicIso } from '../../test/kit/fleet/boot-scene.js'
import { defaultMachineSpec } from '../hardware/default-spec.js'
import type { BootOverride } from '../hardware/boot-override.js'
import { NO_PACE } from '../machine.js'

const DISK = 'disk: no bootable system'
const NOTHING = 'boot order: no bootable device'
const SCRIPT = 'http://192.0.2.1/boot.ipxe'
const NICS = defaultMachineSpec(1).nics

describe('a device that the BMC was requested and that cannot boot is named on console and in the log', () => {
  test.each<[Partial<BootOverride>, string]>([
    [{ target: 'Cd' }, 'virtual CD: no medium is inserted'],
    [{ target: 'Usb' }, 'virtual USB stick: no medium is inserted'],
    [{ target: 'Floppy' }, 'virtual floppy: no medium is inserted'],
    [{ target: 'Pxe' }, 'PXE: no boot server is configured (--ipxe-url)'],
    [{ target: 'UefiHttp' }, 'HTTP boot: HttpBootUri is not set, and no boot server is configured (--ipxe-url)'],
    [{ target: 'UefiTarget', uefiTarget: 'CD.1' }, 'virtual CD: no medium is inserted'],
    [{ target: 'UefiTarget', uefiTarget: 'NIC.9' }, 'UEFI target: the machine has no boot option NIC.9'],
    [{ target: 'UefiTarget' }, 'UEFI target: no boot option is named'],
  ])('for the override %j', async (override, line) => {
    await using there = await bootScene()
    const { machine } = there
    await machine.firmware.boot.setOverride({ ...override, enabled: 'Once' })
    await there.boot()
    expect(machine.boot()).toMatchObject({ outcome: 'no bootable device', live: { failure: `${line}; ${DISK}` } })
    expect(machine.console()).toEqual([line, DISK])
    expect(there.failures()).toEqual([line, DISK, NOTHING])
  })

  test('a floppy is for parameters, and has no system', async () => {
    await using there = await bootScene()
    await there.machine.firmware.insert('floppy', 'http://192.0.2.1/parameters.img')
    await there.machine.firmware.boot.setOverride({ target: 'Floppy', enabled: 'Once' })
    await there.boot()
    expect(there.failures()[0]).toBe('virtual floppy: the medium has no bootable system')
  })

  test('a machine none of whose NICs boots from the network', async () => {
    const nics = NICS.map((nic) => ({ ...nic, pxe: false }))
    await using there = await bootScene({ bootScript: SCRIPT, hardware: { nics } })
    await there.machine.firmware.boot.setOverride({ target: 'Pxe', enabled: 'Once' })
    await there.boot()
    expect(there.failures()[0]).toBe('PXE: network boot is enabled on no NIC')
    expect(there.opened).toEqual([])
  })
})

test('the stick that was requested is passed over without a word where the CD boots in its place', async () => {
  await using there = await bootScene()
  there.files.set(CD, ironicIso())
  await there.machine.firmware.insert('cdrom', CD)
  await there.machine.firmware.boot.setOverride({ target: 'Usb', enabled: 'Once' })
  await there.boot()
  expect(there.machine.boot()).toMatchObject({ outcome: 'ramdisk' })
  expect(there.failures()).toEqual([])
})

test('empty devices of the boot order are in neither console nor log', async () => {
  await using there = await bootScene()
  await there.boot()
  expect(there.machine.console()).toEqual([DISK])
  expect(there.failures()).toEqual([DISK, NOTHING])
})

test('each device that fails has one entry in the log, and the journal gets the reasons of all', async () => {
  await using there = await bootScene()
  const { machine } = there
  await machine.firmware.insert('cdrom', CD)
  await machine.firmware.boot.setOverride({ target: 'Cd', enabled: 'Once' })
  await there.boot()
  const cd = `virtual CD: the virtual medium at ${CD} could not be fetched: the server answered 404`
  expect(there.failures()).toEqual([cd, DISK, NOTHING])
  expect(there.reported).toEqual([`${cd}; ${DISK}`])
})

describe('the network', () => {
  test('is tried once from each NIC that boots from it, and from no other', async () => {
    const bootTime = 60_000
    await using there = await bootScene({ bootScript: SCRIPT, pace: { ...NO_PACE, bootRamdisk: bootTime } })
    await there.machine.firmware.boot.setOverride({ target: 'Pxe', enabled: 'Once' })
    const began = there.clock.now()
    await there.boot()
    expect(there.opened).toEqual([SCRIPT])
    expect(there.clock.now() - began).toBeLessThan(2 * bootTime)
    expect(there.machine.firmware.boot.order).toEqual(['Disk.1', 'Disk.2', 'CD.1', 'USB.1', 'NIC.1', 'HTTP.1'])
  })

  test('is tried from the second NIC where that is the one that boots from it', async () => {
    const nics = NICS.map((nic, index) => ({ ...nic, pxe: index === 1 }))
    await using there = await bootScene({ bootScript: 'http://192.0.2.1/tftp/', hardware: { nics } })
    await there.machine.firmware.boot.setOverride({ target: 'Pxe', enabled: 'Once' })
    await there.boot()
    const own = there.opened.findIndex((url) => url.endsWith(nics[1]!.mac.replaceAll(':', '-')))
    const other = there.opened.findIndex((url) => url.endsWith(nics[0]!.mac.replaceAll(':', '-')))
    expect(own).toBeGreaterThan(-1)
    expect(other === -1 || own < other).toBe(true)
    expect(there.machine.firmware.boot.order).toContain('NIC.2')
    expect(there.machine.firmware.boot.order).not.toContain('NIC.1')
  })

  test.each([
    ['a kernel', `kernel http://192.0.2.1/none`, 'http://192.0.2.1/none'],
    ['a script', `chain http://192.0.2.1/none.ipxe`, 'http://192.0.2.1/none.ipxe'],
  ])('%s that is missing is named by its URL', async (_, line, url) => {
    await using there = await bootScene({ bootScript: SCRIPT })
    there.files.set(SCRIPT, Buffer.from(`#!ipxe\n${line}\n`))
    await there.machine.firmware.boot.setOverride({ target: 'Pxe', enabled: 'Once' })
    await there.boot()
    expect(there.failures()[0]).toBe(`PXE: ${url} could not be fetched: the server answered 404`)
    expect(there.machine.console()).toContain(`iPXE: ${url} could not be fetched: the server answered 404`)
  })

  test('a first menu of GRUB whose next one is missing names that', async () => {
    const menu = 'http://192.0.2.1/grub.cfg'
    await using there = await bootScene({ bootScript: menu })
    there.files.set(menu, Buffer.from('set default=master\nsource /tftpboot/$net_default_mac.conf\n'))
    await there.machine.firmware.boot.setOverride({ target: 'Pxe', enabled: 'Once' })
    await there.boot()
    expect(there.failures()[0]).toContain(`http://192.0.2.1/${NICS[0]!.mac}.conf: the server answered 404`)
  })
})

describe('an option for HTTP boot', () => {
  const url = 'http://192.0.2.1/boot.iso'

  test('boots the URI that the BMC has', async () => {
    await using there = await bootScene()
    there.files.set(url, ironicIso())
    await there.machine.firmware.boot.setOverride({ httpBootUri: url })
    await there.machine.firmware.boot.setOrder(['HTTP.1'])
    await there.boot()
    expect(there.machine.boot()).toMatchObject({ source: { kind: 'iso', url }, outcome: 'ramdisk' })
  })

  test('is there in UEFI mode only', async () => {
    await using there = await bootScene()
    const { firmware } = there.machine
    await firmware.boot.setOrder(['HTTP.1', 'NIC.1', 'CD.1', 'USB.1', 'Disk.1', 'Disk.2'])
    await firmware.boot.setOverride({ target: 'UefiHttp', enabled: 'Once', httpBootUri: url })
    await firmware.setBootMode('bios')
    expect(firmware.boot.order).toEqual(['NIC.1', 'CD.1', 'USB.1', 'Disk.1', 'Disk.2'])
    await there.boot()
    expect(there.failures()).toEqual(['HTTP boot: the boot mode is BIOS', DISK, NOTHING])
    await firmware.setBootMode('uefi')
    expect(firmware.boot.order[0]).toBe('HTTP.1')
  })

  test('asks DHCP without one, as network boot does, and not a second time after that', async () => {
    await using there = await bootScene({ bootScript: SCRIPT })
    await there.machine.firmware.boot.setOverride({ target: 'UefiTarget', uefiTarget: 'HTTP.1', enabled: 'Once' })
    await there.boot()
    expect(there.opened).toEqual([SCRIPT])
  })
})
