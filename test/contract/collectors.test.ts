import { expect, test } from 'vitest'
import { inspectionData, type InspectionOptions } from '../../agent/agent-inspection.js'
import { parseDmi } from '../../agent/collectors/dmi.js'
import { parseTlvs } from '../../agent/collectors/collect-lldp.js'
import { Managers } from '../../agent/agent-managers.js'
import { defaultMachineSpec, NO_PACE, openMachines, type MachineSpec } from '../../machine/index.js'
import { Probe, seededRandom, silent, systemClock } from '../../base/runtime/index.js'
import { readHardware } from '../../steps/index.js'
import type { InspectionBody } from '../../base/wire/index.js'

/** Runs collectors on a simulated machine that has booted its ramdisk. */
async function collected(collectors: string[], change: Partial<MachineSpec> = {}): Promise<InspectionBody> {
  const clock = systemClock()
  let up = (): void => {}
  const ready = new Promise<void>((resolve) => (up = resolve))
  await using machines = await openMachines({
    stateDir: null,
    clock,
    random: seededRandom(1),
    probe: new Probe(),
    logger: silent,
    pace: NO_PACE,
    events: { ramdiskUp: () => up(), down: () => {} },
  })
  const machine = await machines.create({ ...defaultMachineSpec(1), bmc: null, ...change })
  await machine.setBoot({ kind: 'ramdisk', parameters: {} })
  await machine.setPower('on')
  await ready
  const { target } = machine
  const options: InspectionOptions = {
    target,
    collectors,
    clock,
    lldpTimeout: 30_000,
    signal: new AbortController().signal,
    managers: await Managers.probe([], target),
    hardware: () => readHardware(target),
    logs: async () => 'H4sI',
  }
  return await inspectionData(options)
}

const keys = (data: InspectionBody) => Object.keys(data).sort()

test('default and logs alone when nothing else is requested', async () => {
  expect(keys(await collected(['default', 'logs']))).toEqual([
    'boot_interface',
    'configuration',
    'error',
    'inventory',
    'logs',
    'root_disk',
  ])
})

test('the inventory has no MAC address of the BMC', async () => {
  const { inventory } = await collected(['default'], { bmc: defaultMachineSpec(1).bmc })
  expect(inventory).toHaveProperty('bmc_address')
  expect(inventory).not.toHaveProperty('bmc_mac')
})

test('each of the others adds its key, in IPA’s shape, from the machine’s own files and programs', async () => {
  const names = ['pci-devices', 'usb-devices', 'numa-topology', 'dmi-decode', 'lldp']
  const data = await collected(['default', ...names, 'no-such-collector'], { cpus: 2 })
  expect(data).toMatchObject({ error: null, configuration: { collectors: ['default', ...names] } })
  expect(data['pci_devices']).toContainEqual({
    vendor_id: '1af4',
    product_id: '0001',
    class: '020000',
    revision: '01',
    bus: '0000:01:00.0',
    numa_node_id: 0,
  })
  expect(data['usb_devices']).toEqual([{ product: 'xHCI Host Controller', vendor: 'Linux', handle: 'USB:1:1' }])
  const nics = data.inventory!.interfaces
  expect(data['numa_topology']).toEqual({
    ram: [{ numa_node: 0, size_kb: expect.any(Number) as number }],
    cpus: [
      { cpu: 0, numa_node: 0, thread_siblings: [0] },
      { cpu: 1, numa_node: 0, thread_siblings: [1] },
    ],
    nics: nics.map(({ name }) => ({ name, numa_node: 0 })),
  })
  expect(data['dmi']).toMatchObject({
    bios: { Vendor: 'EDK II', Version: '1.0.0' },
    cpu: [{ 'Socket Designation': 'CPU 0', 'Core Count': '2' }],
    memory: { devices: [{ 'Form Factor': 'DIMM' }] },
  })
  expect(data['lldp_raw']).toEqual({
    eno1: [
      [1, '0402005e005301'],
      [2, `05${Buffer.from('Ethernet1/1').toString('hex')}`],
      [3, '0078'],
      [5, Buffer.from('switch-1').toString('hex')],
      [0, ''],
    ],
    // It has no cable.
    eno2: [],
  })
})

test('dmidecode’s lists and repeated structures', () => {
  const text =
    '# dmidecode 3.6\n\nHandle 0x0000, DMI type 0, 26 bytes\nBIOS Information\n\tVendor: A: B\n\tCharacteristics:\n\t\tPCI\n\t\tUEFI\n\nHandle 0x0011, DMI type 17, 1 bytes\nMemory Device\n\tSize: 8 GB\n\nHandle 0x0012, DMI type 17, 1 bytes\nMemory Device\n\tSize: 4 GB\n'
  expect(parseDmi(text)).toEqual([
    { title: 'BIOS Information', facts: { Vendor: 'A: B', Characteristics: ['PCI', 'UEFI'] } },
    { title: 'Memory Device', facts: { Size: '8 GB' } },
    { title: 'Memory Device', facts: { Size: '4 GB' } },
  ])
})

test.each<[string, string, unknown[]]>([
  ['one cut short', '0206aabb', [[1, 'aabb']]],
  ['one without its value', '0207', [[1, '']]],
  [
    'bytes after the end',
    '060200780000ffff',
    [
      [3, '0078'],
      [0, ''],
      [127, ''],
    ],
  ],
  ['a single byte after the last', '0602007800', [[3, '0078']]],
])('a frame with %s is read as the real agent reads it', (_, hex, tlvs) => {
  expect(parseTlvs(Buffer.from(`${'00'.repeat(14)}${hex}`, 'hex'))).toEqual(tlvs)
})
