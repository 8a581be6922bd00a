import { describe, expect, test } from 'vitest'
import { defaultMachineSpec } from './default-spec.js'
import { hardwareOf, identityIn, type HardwareFleet } from './hardware-fleet.js'
import { withHardware } from './machine-hardware.js'

const mixed: HardwareFleet = [{ count: 3, hardware: { cpus: 16 } }, { hardware: { cpus: 64 } }]

describe('a fleet', () => {
  test('gives each machine the hardware of its entry, and repeats the entries', () => {
    expect(Array.from({ length: 9 }, (_, index) => hardwareOf(mixed, index + 1).cpus)).toEqual([
      16, 16, 16, 64, 16, 16, 16, 64, 16,
    ])
  })

  test.each<[string, HardwareFleet[0]['hardware'], string]>([
    ['serial number', { serial: 'A1' }, 'serial A1'],
    ['MAC address', { nics: [{}, { mac: '52:54:00:00:00:01' }] }, 'nics.1.mac 52:54:00:00:00:01'],
    ['IPv4 address', { nics: [{ ipv4: '198.18.0.1' }] }, 'nics.0.ipv4 198.18.0.1'],
    ["disk's WWN", { disks: [{ wwn: '0x5' }] }, 'disks.0.wwn 0x5'],
  ])('never gives two machines the same %s', (_, hardware, identity) => {
    expect(identityIn(hardware)).toBe(identity)
    const once: HardwareFleet = [{ hardware }, { hardware: {} }]
    expect(hardwareOf(once, 1)).toBe(hardware)
    expect(() => hardwareOf(once, 3)).toThrow(`machine 3 would have the same ${identity} as an earlier machine`)
    expect(() => hardwareOf([{ count: 2, hardware }], 2)).toThrow('machine 2 would have the same')
  })

  test('with many NICs and disks gives every machine its own identities', () => {
    const hardware = { nics: Array.from({ length: 4 }, () => ({})), disks: Array.from({ length: 4 }, () => ({})) }
    const specs = Array.from({ length: 100 }, (_, index) => withHardware(defaultMachineSpec(index + 1), hardware))
    const macs = specs.flatMap(({ nics }) => nics.map(({ mac }) => mac))
    const serials = specs.flatMap(({ disks }) => disks.map(({ serial }) => serial))
    const wwns = specs.flatMap(({ disks }) => disks.map(({ wwn }) => wwn))
    for (const values of [macs, serials, wwns]) expect(new Set(values).size).toBe(400)
    expect(specs[0]!.disks.map(({ name }) => name)).toEqual(['sda', 'sdb', 'sdc', 'sdd'])
  })
})
