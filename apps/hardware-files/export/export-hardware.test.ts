import { expect, test } from 'vitest'
import { createStagedLab } from '../../../lab/index.js'
import { LabClient, type MachineReport } from '../../../control/index.js'
import type { HardwareFleet, MachineHardware } from '../../../machine/index.js'
import { checkedHardware } from '../checked-hardware.js'
import { importHardware } from '../import-hardware.js'
import { EXPORT_FORMATS, type ExportFormat } from './export-hardware.js'

const HARDWARE: MachineHardware = {
  firmware: 'bios',
  architecture: 'aarch64',
  cpus: 48,
  memoryMib: 98304,
  manufacturer: 'ACME',
  product: 'Rack "One"',
  serial: 'X: #1',
  hostname: 'worker-0.example.com',
  nics: [
    {
      name: 'ens1f0',
      mac: '3c:ec:ef:00:00:01',
      ipv4: '192.0.2.7',
      carrier: true,
      lldp: {
        switch: 'junos',
        name: 'leaf-1',
        chassis: '88:a2:5e:5c:36:00',
        port: '541',
        vlans: [{ id: 16, name: 'a' }],
      },
    },
    { name: 'ens1f1', mac: '3c:ec:ef:00:00:02', ipv4: null, carrier: true, pxe: true, lldp: null },
    { name: 'usb0', mac: '3c:ec:ef:00:00:03', ipv4: null, carrier: false, driver: 'cdc_ether' },
  ],
  disks: [
    {
      name: 'sdx',
      size: 480103981056,
      serial: 'S1',
      model: 'M',
      vendor: 'V',
      wwn: '0x5000c50000000abc',
      wwnExtension: '0x00aa',
      hctl: '3:2:1:0',
      byPath: 'pci-0000:65:00.0-scsi-0:2:0:0',
      rotational: true,
      transport: 'sas',
      sectorSize: 512,
    },
    {
      name: 'nvme0n1',
      size: 2 ** 40,
      serial: 'S2',
      model: 'N',
      vendor: '',
      wwn: '0x5000c50000000abd',
      rotational: false,
      transport: 'nvme',
      sectorSize: 4096,
      secureErase: 'frozen',
    },
  ],
}

/** A lab's report of a machine with this hardware. */
async function reported(hardware: MachineHardware): Promise<MachineReport> {
  const fleet: HardwareFleet = [{ hardware }]
  await using lab = await createStagedLab({ hardware: fleet })
  const node = await lab.enroll()
  const client = new LabClient('http://lab.test', { fetch: lab.fetchAt('http://lab.test') })
  return await client.machineOfNode(node.uuid)
}

/** The hardware that an import reads out of an export. */
async function returned(format: ExportFormat): Promise<MachineHardware> {
  const text = await EXPORT_FORMATS[format](await reported(HARDWARE))
  const bytes = Buffer.from(text)
  const file = format === 'hardware' ? text : importHardware(bytes, 'it', { keepsIdentities: true }).text
  return checkedHardware(file, 'it')[0].hardware
}

test('a hardware file has all of the machine', async () => {
  const hardware = await returned('hardware')
  const [first, second] = HARDWARE.disks!
  const { vendor: _vendor, ...nvme } = second!
  expect(hardware).toMatchObject({ ...HARDWARE, disks: [first, nvme] })
})

test('an Ironic inventory has all but what an agent cannot see', async () => {
  const hardware = await returned('ironic-inventory')
  const [first, second] = HARDWARE.disks!
  const { secureErase: _secureErase, vendor: _vendor, ...seen } = second!
  expect(hardware).toMatchObject({ ...HARDWARE, disks: [first, seen] })
  expect(hardware.nics![1]).toMatchObject({ pxe: true, lldp: null })
  expect(hardware.disks![1]).not.toHaveProperty('secureErase')
})

test('HardwareData have no boot mode, cables and sector sizes', async () => {
  const hardware = await returned('hardware-data')
  expect(hardware).toMatchObject({
    architecture: 'aarch64',
    cpus: 48,
    memoryMib: 98304,
    serial: 'X: #1',
    hostname: 'worker-0.example.com',
    nics: [
      {
        name: 'ens1f0',
        mac: '3c:ec:ef:00:00:01',
        ipv4: '192.0.2.7',
        lldp: { name: 'leaf-1', chassis: '88:a2:5e:5c:36:00', port: '541' },
      },
      { name: 'ens1f1', pxe: true, ipv4: null },
      { name: 'usb0', ipv4: null },
    ],
    disks: [
      { name: 'sdx', size: 480103981056, hctl: '3:2:1:0', wwnExtension: '0x00aa', transport: 'sas' },
      { name: 'nvme0n1', size: 2 ** 40, transport: 'nvme' },
    ],
  })
  expect(hardware).not.toHaveProperty('firmware')
})

test('an exported inventory is what Ironic stores after an inspection', async () => {
  // The agents of a lab leave the USB NICs of BMCs out.
  const withoutUsb = { ...HARDWARE, nics: HARDWARE.nics!.slice(0, 2) }
  await using lab = await createStagedLab({ hardware: [{ hardware: withoutUsb }], ironic: { profile: 'metal3' } })
  const node = await lab.enroll()
  await node.provision('manage')
  await node.settled()
  await node.provision('inspect')
  expect(await node.settled()).toMatchObject({ provision_state: 'manageable' })
  const fetched = await lab.fetchAt('http://lab.test')(`http://lab.test/v1/nodes/${node.uuid}/inventory`, {
    headers: { 'X-OpenStack-Ironic-API-Version': '1.89' },
  })
  const stored = (await fetched.json()) as { inventory: Record<string, unknown>; plugin_data: Record<string, unknown> }
  const client = new LabClient('http://lab.test', { fetch: lab.fetchAt('http://lab.test') })
  const text = await EXPORT_FORMATS['ironic-inventory'](await client.machineOfNode(node.uuid))
  const exported = JSON.parse(text) as typeof stored
  // The addresses of the BMC are left out.
  const { bmc_address: _bmc, bmc_v6address: _v6, ...inventory } = stored.inventory
  expect(exported.inventory).toMatchObject(inventory)
  expect(exported.plugin_data['parsed_lldp']).toEqual(stored.plugin_data['parsed_lldp'])
})
