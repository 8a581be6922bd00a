import type { SimulatedDisk } from '../disk/block-device.js'
import { partitionName, readLayout, type DiskLayout, type DiskPartition } from '../disk/disk-partitions.js'
import { diskNames } from '../hardware/hardware-names.js'
import type { MachineSpec } from '../machine-spec.js'

/** A block device with the changes that are planned for it. */
export interface Device {
  /** Kernel name. */
  name: string
  /** Bytes. */
  size: number
  sectorSize: number
  signature: { type: string; label: string | null; uuid: string | null } | null
  /** Layout of a whole disk; null for others. */
  layout: DiskLayout | null
}

/** Block devices under /dev, planned ones included. */
export class Devices {
  readonly #devices = new Map<string, Device>()
  readonly #links = new Map<string, Device>()

  static async read(spec: MachineSpec, disks: ReadonlyMap<string, SimulatedDisk>, bootDisk: string): Promise<Devices> {
    const devices = new Devices()
    for (const [name, device] of disks) {
      const layout = await readLayout(device)
      const { size, sectorSize } = device
      const disk = devices.add({ name, size, sectorSize, layout, signature: layout.filesystem ?? null })
      const known = spec.disks.find((candidate) => candidate.name === name)
      if (known) {
        const { byPath, byId } = diskNames(spec, known)
        for (const id of byId) devices.#link(`disk/by-id/${id}`, disk)
        devices.#link(`disk/by-path/${byPath}`, disk)
      }
      if (name === bootDisk) devices.#link('disk/by-id/coreos-boot-disk', disk)
      for (const partition of layout.partitions) devices.addPartition(disk, partition)
    }
    return devices
  }

  find(path: string): Device | undefined {
    const name = path.replace(/^\/dev\//, '')
    const linked = this.#links.get(name)
    // A link to what is gone leads nowhere.
    return this.#devices.get(name) ?? (linked && this.#devices.get(linked.name) === linked ? linked : undefined)
  }

  /** True if any device has a filesystem of this label. */
  hasFilesystem(label: string): boolean {
    return [...this.#devices.values()].some(
      ({ signature }) => signature?.label === label && signature.type !== 'crypto_LUKS',
    )
  }

  /** True if a partition of this label is there. */
  hasPartition(label: string): boolean {
    return this.find(`/dev/disk/by-partlabel/${label}`) !== undefined
  }

  /** Removes a partition of a disk with all that is on it. */
  removePartition(disk: Device, number: number): void {
    this.#devices.delete(partitionName(disk.name, number))
  }

  /** A device is overwritten from its start: with a disk's table its partitions go. */
  overwrite(device: Device, signature: Device['signature']): void {
    for (const { number } of device.layout?.partitions ?? []) this.removePartition(device, number)
    if (device.layout) device.layout = { ...device.layout, partitions: [] }
    device.signature = signature
    this.signed(device)
  }

  add(device: Device): Device {
    this.#devices.set(device.name, device)
    return device
  }

  addPartition(disk: Device, { number, length, gpt, filesystem }: Omit<DiskPartition, 'name' | 'offset'>): void {
    const { sectorSize } = disk
    const device = this.add({
      name: partitionName(disk.name, number),
      size: length,
      sectorSize,
      layout: null,
      signature: filesystem ?? null,
    })
    if (gpt?.name) this.#link(`disk/by-partlabel/${gpt.name}`, device)
    if (gpt) this.#link(`disk/by-partuuid/${gpt.guid}`, device)
    this.signed(device)
  }

  /** Adds the links of a filesystem's label and UUID. */
  signed(device: Device): void {
    const { label, uuid } = device.signature ?? {}
    if (label) this.#link(`disk/by-label/${label}`, device)
    if (uuid) this.#link(`disk/by-uuid/${uuid}`, device)
  }

  #link(path: string, device: Device): void {
    this.#links.set(path, device)
  }
}
