import type { SimulatedDisk } from '../../disk/block-device.js'
import { mdUuid } from '../../disk/md-superblock.js'
import type { Filesystem } from '../../disk/filesystem-probe.js'
import { asShown, knownLayout, readLayoutOfBadDisk, type DiskLayout } from '../../disk/disk-partitions.js'
import { diskNames } from '../../hardware/hardware-names.js'
import type { DiskSpec } from '../../machine-spec.js'
import { findArrays, isArrayMember, type MdArray } from './md-arrays.js'
import type { ProgramMachine } from '../machine-program.js'

/**
 * A disk or partition as Linux and udev show it. Always read from the disk, as if the kernel re-read the table at every
 * change.
 */
export interface BlockNode {
  kind: 'disk' | 'part' | 'raid'
  /** `sda`, `sda3`, `md127`, `md127p1` */
  name: string
  /** The disk's spec; for an array a spec without serial number and WWN. */
  disk: DiskSpec
  /** The disk's device, also for partitions. */
  device: SimulatedDisk
  /** Bytes from the start of the disk. */
  offset: number
  length: number
  /** Table of a disk, or the table that a partition is in. */
  table: DiskLayout['table']
  diskGuid: string | null
  /** From 1; null for a disk. */
  number: number | null
  gpt: { type: string; guid: string; name: string } | null
  filesystem: Filesystem | undefined
  /** Links in /dev/disk to this node. */
  links: string[]
}

export interface BlockDiskNode extends BlockNode {
  partitions: BlockNode[]
  /** The running software RAID array of this node; null for others. */
  array: MdArray | null
}

/** Every disk in order with its partitions, then the running software RAID arrays. */
export async function blockNodes(inside: ProgramMachine): Promise<BlockDiskNode[]> {
  const disks: BlockDiskNode[] = []
  for (const disk of inside.spec.disks) {
    const device = inside.disks.get(disk.name)!
    const shown = asShown(device, knownLayout(device) ?? (await readLayoutOfBadDisk(device)))
    disks.push(diskNode(inside, disk, device, shown instanceof Promise ? await shown : shown))
  }
  if (!disks.some((disk) => isArrayMember(disk) || disk.partitions.some(isArrayMember))) return disks
  const arrays: BlockDiskNode[] = []
  for (const array of await findArrays(inside, disks))
    if (array.device) arrays.push(await arrayNode(array, array.device))
  if (arrays.length === 0) return disks
  return [...disks, ...arrays.sort((a, b) => a.name.localeCompare(b.name, 'en', { numeric: true }))]
}

/**
 * Nodes by the layout that they were made from: they change with it, and {@link readLayout} keeps it until then. Those of idle
 * machines are collected, since they are made anew from the same layout.
 */
const nodes = new WeakMap<DiskLayout, WeakRef<BlockDiskNode>>()

function diskNode(inside: ProgramMachine, disk: DiskSpec, device: SimulatedDisk, layout: DiskLayout): BlockDiskNode {
  let node = nodes.get(layout)?.deref()
  if (!node) {
    const { byPath, byId } = diskNames(inside.spec, disk)
    const stable = [...byId.map((id) => `/dev/disk/by-id/${id}`), `/dev/disk/by-path/${byPath}`]
    node = wholeNode({ kind: 'disk', disk, device, layout, stable, array: null })
    nodes.set(layout, new WeakRef(node))
  }
  return node
}

async function arrayNode(array: MdArray, device: SimulatedDisk): Promise<BlockDiskNode> {
  const { arrayUuid, name } = array.superblock
  const members = array.members.flatMap((member) => member?.disk ?? [])
  const disk: DiskSpec = {
    name: array.name,
    size: device.size,
    sectorSize: device.sectorSize,
    serial: '',
    wwn: '',
    model: '',
    vendor: '',
    rotational: members.some(({ rotational }) => rotational),
    transport: members[0]!.transport,
    backing: { kind: 'described' },
  }
  const stable = [`/dev/disk/by-id/md-uuid-${mdUuid(arrayUuid)}`, `/dev/disk/by-id/md-name-${name}`]
  const layout = await readLayoutOfBadDisk(device)
  return wholeNode({ kind: 'raid', disk, device, layout, stable, array })
}

function wholeNode({
  kind,
  disk,
  device,
  layout,
  stable,
  array,
}: {
  kind: 'disk' | 'raid'
  disk: DiskSpec
  device: SimulatedDisk
  layout: DiskLayout
  stable: string[]
  array: MdArray | null
}): BlockDiskNode {
  const { table, gpt, partitions, filesystem } = layout
  const common = { disk, device, table, diskGuid: gpt?.diskGuid ?? null }
  return {
    ...common,
    kind,
    array,
    name: disk.name,
    offset: 0,
    length: disk.size,
    number: null,
    gpt: null,
    filesystem,
    links: [...stable, ...contentLinks(null, filesystem)].sort(),
    partitions: partitions.map((partition) => ({
      ...common,
      kind: 'part',
      name: partition.name,
      offset: partition.offset,
      length: partition.length,
      number: partition.number,
      gpt: partition.gpt,
      filesystem: partition.filesystem,
      links: [
        ...stable.map((link) => `${link}-part${partition.number}`),
        ...contentLinks(partition.gpt, partition.filesystem),
      ].sort(),
    })),
  }
}

function contentLinks(gpt: BlockNode['gpt'], filesystem: Filesystem | undefined): string[] {
  return [
    gpt && `by-partuuid/${gpt.guid}`,
    gpt?.name && `by-partlabel/${gpt.name}`,
    filesystem?.uuid && `by-uuid/${filesystem.uuid}`,
    filesystem?.label && `by-label/${filesystem.label}`,
  ].flatMap((name) => (name ? [`/dev/disk/${name}`] : []))
}

/** Disks and partitions in lsblk's order. */
export const flatNodes = (disks: readonly BlockDiskNode[]): BlockNode[] =>
  disks.flatMap((disk) => [disk, ...disk.partitions])

/** The node of a path or link in /dev; undefined without one. Other paths need no disk access. */
export async function findBlockNode(
  inside: ProgramMachine,
  path: string,
): Promise<BlockNode | BlockDiskNode | undefined> {
  if (!path.startsWith('/dev/')) return undefined
  const name = path.slice('/dev/'.length)
  if (!/^(disk\/|md)/.test(name) && ![...inside.disks.keys()].some((disk) => name.startsWith(disk))) return undefined
  for (const disk of await blockNodes(inside))
    for (const node of [disk, ...disk.partitions]) if (node.name === name || node.links.includes(path)) return node
  return undefined
}

/** Reads within a disk or partition; fewer bytes at its end. */
export const readNode = (node: BlockNode, offset: number, length: number): Promise<Uint8Array> =>
  node.device.read(node.offset + offset, Math.max(0, Math.min(length, node.length - offset)))

/** Mount points of a disk or partition. */
export const mountPoints = (inside: ProgramMachine, node: BlockNode): string[] =>
  [...inside.mounts].filter(([, mount]) => mount.device === `/dev/${node.name}`).map(([point]) => point)
