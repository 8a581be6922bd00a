import type { Executor } from '../../targets/index.js'
import { namesIn, readSysfsText } from './sysfs.js'

const PCI = '/sys/bus/pci/devices'
const USB = '/sys/bus/usb/devices'

export interface PciDevice {
  vendor_id: string
  product_id: string
  class: string
  revision: string
  /** `0000:01:00.0` */
  bus: string
  numa_node_id: number | null
}

/** Every function on the PCI buses; ids in hexadecimal without `0x`. */
export async function pciDevices(executor: Executor): Promise<PciDevice[]> {
  const devices: PciDevice[] = []
  for (const bus of await namesIn(executor, PCI)) {
    const hex = async (file: string) =>
      ((await readSysfsText(executor, `${PCI}/${bus}/${file}`)) ?? '').replace(/^0x/, '')
    const node = await readSysfsText(executor, `${PCI}/${bus}/numa_node`)
    devices.push({
      vendor_id: await hex('vendor'),
      product_id: await hex('device'),
      class: await hex('class'),
      revision: await hex('revision'),
      bus,
      numa_node_id: node === null ? null : Number(node),
    })
  }
  return devices
}

export interface UsbDevice {
  product: string
  vendor: string
  /** Bus and device number in the form of lshw: `USB:1:1` */
  handle: string
}

/** USB devices; interfaces of devices (`1-1:1.0`) are left out. */
export async function usbDevices(executor: Executor): Promise<UsbDevice[]> {
  const devices: UsbDevice[] = []
  for (const name of await namesIn(executor, USB)) {
    if (name.includes(':')) continue
    const text = (file: string) => readSysfsText(executor, `${USB}/${name}/${file}`)
    devices.push({
      product: (await text('product')) ?? (await text('idProduct')) ?? '',
      vendor: (await text('manufacturer')) ?? (await text('idVendor')) ?? '',
      handle: `USB:${(await text('busnum')) ?? ''}:${(await text('devnum')) ?? ''}`,
    })
  }
  return devices
}
