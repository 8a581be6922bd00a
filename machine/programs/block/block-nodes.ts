import type { BlockDevice } from '../../disk/block-device.js'
import { mdUuid } from '../../disk/md-superblock.js'
import type { Filesystem } from '../../disk/filesystem-probe.js'
import { readLayout, type DiskLayout } from '../../disk/partitions.js'
import { diskNames } from '../../hardware/hardware-names.js'
import type { DiskSpec } from '../../machine-spec.js'
import { findArrays, type MdArray } from './md-arrays.js'
import type { Inside } from '../program.js'

/**
 * A disk or partition as Linux and udev know it. Read from the disk whenever somebody asks, as if the kernel had
 * re-read the table at once.
 */
export interface BlockNode {
  kind: 'disk' | 'part' | 'raid'
  /** `sda`, `sda3`, `md127`, `md127p1` */
  name: string
  /** Of an array: what of it a disk would say, without an identity. */
  disk: DiskSpec
  /** The disk's device, also for partitions. */
  device: BlockDevice
  /** Bytes from the start of the disk. */
  offset: number
  length: number
  /** Of a disk: its table. Of a partition: the table that it is in. */
  table: DiskLayout['table']
  diskGuid: string | null
  /** From 1; null for a disk. */
  number: number | null
  gpt: { type: string; guid: string; name: string } | null
  filesystem: Filesystem | undefined
  /** Paths in /dev/disk that lead here. */
  links: string[]
}

export interface BlockDiskNode extends BlockNode {
  partitions: BlockNode[]
  /** Of a software RAID array that runs. */
  array: MdArray | null
}

/** Every disk in its place, with its partitions; then the software RAID arrays that run. */
export async function blockNodes(inside: Inside): Promise<BlockDiskNode[]> {
  const disks: BlockDiskNode[] = []
  for (const disk of inside.spec.disks) disks.push(await diskNode(inside, disk))
  const arrays: BlockDiskNode[] = []
  for (const array of await findArrays(inside, flatNodes(disks)))
    if (array.device) arrays.push(await arrayNode(array, array.device))
  return [...disks, ...arrays.sort((a, b) => a.name.localeCompare(b.name, 'en', { numeric: true }))]
}

async function diskNode(inside: Inside, disk: DiskSpec): Promise<BlockDiskNode> {
  const { byPath, byId } = diskNames(inside.spec, disk)
  const stable = [...byId.map((id) => `/dev/disk/by-id/${id}`), `/dev/disk/by-path/${byPath}`]
  return wholeNode({ kind: 'disk', disk, device: inside.disks.get(disk.name)!, stable, array: null })
}

function arrayNode(array: MdArray, device: BlockDevice): Promise<BlockDiskNode> {
  const { arrayUuid, name } = array.superblock
  const members = array.members.flatMap((member) => member?.disk ?? [])
  const disk: DiskSpec = {
    ...{ name: array.name, size: device.size, sectorSize: device.sectorSize },
    ...{ serial: '', wwn: '', model: '', vendor: '' },
    rotational: members.some(({ rotational }) => rotational),
    transport: members[0]!.transport,
    backing: { kind: 'described' },
  }
  const stable = [`/dev/disk/by-id/md-uuid-${mdUuid(arrayUuid)}`, `/dev/disk/by-id/md-name-${name}`]
  return wholeNode({ kind: 'raid', disk, device, stable, array })
}

async function wholeNode({
  kind,
  disk,
  device,
  stable,
  array,
}: {
  kind: 'disk' | 'raid'
  disk: DiskSpec
  device: BlockDevice
  stable: string[]
  array: MdArray | null
}): Promise<BlockDiskNode> {
  const { table, gpt, partitions, filesystem } = await readLayout(withoutBadSectors(device))
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

/** The kernel and udev find nothing where they cannot read, and list the disk all the same. */
const withoutBadSectors = (device: BlockDevice): BlockDevice => ({
  ...device,
  read: (offset, length) =>
    device.read(offset, length).catch((error: unknown) => {
      if (error instanceof Error && 'code' in error && error.code === 'EIO') return new Uint8Array(length)
      throw error
    }),
})

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

/** The disk or partition behind a path in /dev, a /dev/disk link, or undefined. Costs no disk access without one. */
export async function findNode(inside: Inside, path: string): Promise<BlockNode | BlockDiskNode | undefined> {
  if (!path.startsWith('/dev/')) return undefined
  const name = path.slice('/dev/'.length)
  if (!/^(disk\/|md)/.test(name) && ![...inside.disks.keys()].some((disk) => name.startsWith(disk))) return undefined
  const nodes = flatNodes(await blockNodes(inside))
  return nodes.find((node) => node.name === name || node.links.includes(path))
}

/** Reads within a disk or partition; short at its end. */
export const readNode = (node: BlockNode, offset: number, length: number): Promise<Uint8Array> =>
  node.device.read(node.offset + offset, Math.max(0, Math.min(length, node.length - offset)))

/** Where a disk or partition is mounted. */
export const mountPoints = (inside: Inside, node: BlockNode): string[] =>
  [...inside.mounts].filter(([, mount]) => mount.device === `/dev/${node.name}`).map(([point]) => point)
