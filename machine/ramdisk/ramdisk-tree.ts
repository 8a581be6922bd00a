import { sha256Hex } from '../../base/bytes/index.js'
import { uuidOf } from '../../base/runtime/index.js'
import { normalPath, parentPath, type TreeNode } from '../file-tree.js'
import { transportOf } from '../hardware/disk-transports.js'
import { CPU, CPU_MHZ, diskNames, FIRMWARE, hostName, nicNames, type NicNames } from '../hardware/hardware-names.js'
import type { Boot } from '../machine.js'
import type { MachineSpec } from '../machine-spec.js'

const LIVE_ARGUMENTS =
  'coreos.live.rootfs_url=http://live.invalid/rootfs.img ignition.firstboot ignition.platform.id=metal'

/** Empty folders of a live CoreOS that programs expect. */
const FOLDERS = [
  '/boot',
  '/dev/shm',
  '/etc/NetworkManager/system-connections',
  '/etc/ironic-python-agent.d',
  '/mnt',
  '/root',
  '/run/coreos-installer',
  '/run/lock',
  '/sys/fs/pstore',
  '/var/lib',
  '/var/log/journal',
  '/var/mnt',
  '/var/tmp',
]

/**
 * Files of a live CoreOS ramdisk just booted on this machine: the parts of /etc, /proc, /sys and /dev that the agent,
 * steps and programs read.
 */
export function ramdiskTree(spec: MachineSpec, boot: Boot): ReadonlyMap<string, TreeNode> {
  const tree = new TreeBuilder()
  for (const folder of FOLDERS) tree.folder(folder)
  tree.folder('/tmp', 0o1777)
  tree.folder('/var/tmp', 0o1777)
  tree.file('/run/udev/control', '', 0o600)
  tree.file('/run/ostree-live', '')
  tree.file('/etc/hostname', `${hostName(spec)}\n`)
  tree.file('/etc/os-release', OS_RELEASE)
  // A live system makes a new id at every boot.
  tree.file('/etc/machine-id', `${sha256Hex(boot.id).slice(0, 32)}\n`, 0o444)
  processes(tree, spec, boot)
  firmware(tree, spec)
  for (const nic of spec.nics) addNetworkInterface(tree, spec, nic)
  buses(tree, spec)
  for (const disk of spec.disks) block(tree, spec, disk)
  for (const { path, mode, base64 } of boot.live?.files ?? []) {
    const bytes = Buffer.from(base64, 'base64')
    tree.bytes(path, bytes, mode)
    // systemd prefers a static name to that from DHCP.
    if (path === '/etc/hostname') tree.bytes('/proc/sys/kernel/hostname', bytes, 0o644)
  }
  return tree.nodes
}

const OS_RELEASE = `NAME="Fedora Linux"
ID=fedora
VARIANT="CoreOS"
VARIANT_ID=coreos
PRETTY_NAME="Fedora CoreOS (simulated live image)"
`

/** The kernel command line: the live image's own arguments, then those of the boot loader. */
export function kernelCommandLine(spec: MachineSpec, boot: Boot): string {
  const { source, live } = boot
  // Virtual media add no BOOTIF.
  if (live && source.kind !== 'pxe') return live.kernelArguments
  const parameters: Record<string, string> = source.kind === 'ramdisk' ? { ...source.parameters } : {}
  const nic = spec.nics.find((candidate) => candidate.pxe)
  // pxelinux and Ironic's iPXE template put the hardware type before the address.
  const isNamed = parameters['BOOTIF'] !== undefined || /(^|\s)BOOTIF=/.test(live?.kernelArguments ?? '')
  if (nic && !isNamed) parameters['BOOTIF'] = `01-${nic.mac.replaceAll(':', '-')}`
  const words = Object.entries(parameters).map(([key, value]) => (value === '' ? key : `${key}=${value}`))
  return [live?.kernelArguments ?? LIVE_ARGUMENTS, ...words].join(' ')
}

function processes(tree: TreeBuilder, spec: MachineSpec, boot: Boot): void {
  tree.file('/proc/cmdline', `${kernelCommandLine(spec, boot)}\n`, 0o444)
  tree.file('/proc/sys/kernel/random/boot_id', `${boot.id}\n`, 0o444)
  tree.file('/proc/sys/kernel/hostname', `${hostName(spec)}\n`)
  const total = Math.floor(spec.memoryMib * 1024 * 0.98)
  const line = (name: string, kib: number) => `${`${name}:`.padEnd(16)}${String(kib).padStart(8)} kB\n`
  tree.file('/proc/meminfo', line('MemTotal', total) + line('MemFree', Math.floor(total * 0.9)), 0o444)
  tree.file('/proc/cpuinfo', cpuInfo(spec), 0o444)
  tree.file('/proc/mdstat', 'Personalities : \nunused devices: <none>\n', 0o444)
}

function cpuInfo(spec: MachineSpec): string {
  const cpu = CPU[spec.architecture]
  return Array.from({ length: spec.cpus }, (_, index) =>
    spec.architecture === 'x86_64'
      ? `processor\t: ${index}\nvendor_id\t: ${cpu.vendor}\nmodel name\t: ${cpu.model}\ncpu MHz\t\t: ${CPU_MHZ}.000\nflags\t\t: ${cpu.flags}\n\n`
      : `processor\t: ${index}\nBogoMIPS\t: 50.00\nFeatures\t: ${cpu.flags}\n\n`,
  ).join('')
}

/** The SMBIOS system UUID, by default derived from the serial number. */
export function systemUuid(spec: MachineSpec): string {
  return spec.uuid ?? uuidOf(`${spec.manufacturer}/${spec.product}/${spec.serial}/${spec.id}`)
}

function firmware(tree: TreeBuilder, spec: MachineSpec): void {
  if (spec.firmware === 'uefi') {
    tree.file('/sys/firmware/efi/fw_platform_size', '64\n', 0o444)
    tree.folder('/sys/firmware/efi/efivars')
  }
  const dmi: Record<string, string> = {
    bios_vendor: FIRMWARE.vendor,
    bios_version: FIRMWARE.version,
    bios_date: FIRMWARE.date,
    sys_vendor: spec.manufacturer,
    product_name: spec.product,
    product_serial: spec.serial,
    product_uuid: systemUuid(spec),
    board_vendor: spec.manufacturer,
    board_name: spec.product,
    board_serial: spec.serial,
    chassis_vendor: spec.manufacturer,
    chassis_serial: spec.serial,
    chassis_type: '23',
  }
  for (const [name, value] of Object.entries(dmi)) tree.file(`/sys/class/dmi/id/${name}`, `${value}\n`, 0o444)
}

function addNetworkInterface(tree: TreeBuilder, spec: MachineSpec, nic: MachineSpec['nics'][number]): void {
  const names = nicNames(spec, nic)
  const files: Record<string, string> = {
    address: nic.mac,
    addr_assign_type: '0',
    carrier: nic.carrier ? '1' : '0',
    mtu: '1500',
    operstate: nic.carrier ? 'up' : 'down',
    speed: String(names.speed),
    type: '1',
    ...deviceFiles(names),
  }
  for (const [name, value] of Object.entries(files))
    tree.file(`/sys/class/net/${nic.name}/${name}`, `${value}\n`, 0o444)
}

/** The directory `device` of a NIC. That of a USB device is its interface, which has no ids and no slot. */
const deviceFiles = ({ pciAddress, device, vendor, driver }: NicNames): Record<string, string> =>
  pciAddress === null
    ? { 'device/uevent': `DEVTYPE=usb_interface\nDRIVER=${driver}` }
    : {
        'device/device': device,
        'device/numa_node': '0',
        'device/vendor': vendor,
        'device/uevent': `DRIVER=${driver}\nPCI_SLOT_NAME=${pciAddress}`,
      }

/** PCI and USB devices, and one NUMA node with all memory and every core. */
function buses(tree: TreeBuilder, spec: MachineSpec): void {
  const files = (folder: string, texts: Record<string, string>) => {
    for (const [name, text] of Object.entries(texts)) tree.file(`${folder}/${name}`, `${text}\n`, 0o444)
  }
  for (const nic of spec.nics) {
    const { pciAddress, vendor, device } = nicNames(spec, nic)
    if (pciAddress === null) continue
    const facts = { vendor, device, class: '0x020000', revision: '0x01', numa_node: '0' }
    files(`/sys/bus/pci/devices/${pciAddress}`, facts)
  }
  const hub = { idVendor: '1d6b', idProduct: '0002', manufacturer: 'Linux', product: 'xHCI Host Controller' }
  files('/sys/bus/usb/devices/usb1', { ...hub, busnum: '1', devnum: '1' })
  for (const [index, disk] of spec.disks.filter((each) => transportOf(each).bus === 'usb').entries())
    files(`/sys/bus/usb/devices/1-${index + 1}`, {
      manufacturer: disk.vendor,
      product: disk.model,
      busnum: '1',
      devnum: String(index + 2),
    })
  const node = '/sys/devices/system/node/node0'
  files(node, { meminfo: `Node 0 MemTotal:       ${Math.floor(spec.memoryMib * 1024 * 0.98)} kB` })
  for (let cpu = 0; cpu < spec.cpus; cpu++)
    files(`${node}/cpu${cpu}/topology`, { core_id: String(cpu), physical_package_id: '0' })
}

function block(tree: TreeBuilder, spec: MachineSpec, disk: MachineSpec['disks'][number]): void {
  const names = diskNames(spec, disk)
  const sys = `/sys/class/block/${disk.name}`
  const files: Record<string, string> = {
    // In units of 512 bytes, independent of the sector size.
    size: String(disk.size / 512),
    ro: '0',
    removable: transportOf(disk).isRemovable ? '1' : '0',
    'device/model': disk.model,
    'device/vendor': disk.vendor,
    'queue/rotational': disk.rotational ? '1' : '0',
    'queue/logical_block_size': String(disk.sectorSize),
    'queue/physical_block_size': '4096',
  }
  for (const [name, value] of Object.entries(files)) tree.file(`${sys}/${name}`, `${value}\n`, 0o444)
  if (names.hctl !== null) tree.folder(`${sys}/device/scsi_device/${names.hctl}`)
  tree.link(`/sys/block/${disk.name}`, sys)
  tree.file(`/dev/${disk.name}`, '', 0o660)
  tree.link(`/dev/disk/by-path/${names.byPath}`, `/dev/${disk.name}`)
  for (const id of names.byId) tree.link(`/dev/disk/by-id/${id}`, `/dev/${disk.name}`)
}

/** Most files of a boot are never read, so their bytes are made when they are. */
class TextFile {
  readonly kind = 'file'

  constructor(
    readonly text: string,
    readonly mode: number,
  ) {}

  get bytes(): Uint8Array {
    return Buffer.from(this.text)
  }
}

class TreeBuilder {
  readonly nodes = new Map<string, TreeNode>()

  folder(path: string, mode = 0o755): void {
    if (path === '/' || (this.nodes.has(path) && mode === 0o755)) return
    this.folder(parentPath(path))
    this.nodes.set(path, { kind: 'directory', mode })
  }

  /** @param path normal, as those of all files here */
  file(path: string, text: string, mode = 0o644): void {
    this.folder(parentPath(path))
    this.nodes.set(path, new TextFile(text, mode))
  }

  bytes(path: string, bytes: Uint8Array, mode: number): void {
    this.folder(parentPath(path))
    this.nodes.set(normalPath(path), { kind: 'file', mode, bytes })
  }

  link(path: string, target: string): void {
    this.folder(parentPath(path))
    this.nodes.set(path, { kind: 'link', target })
  }
}
