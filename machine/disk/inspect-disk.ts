import { sha256Hex } from '../../base/bytes/index.js'
import { kernelWords } from '../../coreos/index.js'
import { UserError, type Clock } from '../../base/runtime/index.js'
import type { SimulatedDisk } from './block-device.js'
import { findBootPlace, withBootPlace } from './boot-place.js'
import { VolumeError, type BootVolume } from './boot-volume.js'
import type { FilesystemType } from './filesystem-probe.js'
import { openFileDisk } from './file-disk.js'
import { readLayout } from './disk-partitions.js'

/** Contents of a disk, read from its bytes. */
export interface DiskReport {
  /** Bytes. */
  size: number
  sectorSize: number
  table: 'gpt' | 'dos' | null
  diskGuid: string | null
  partitions: {
    number: number
    /** Name in the GPT entry. */
    name: string | null
    type: string | null
    /** Bytes from the start of the disk. */
    offset: number
    length: number
    filesystem: { type: FilesystemType; label: string | null; uuid: string | null } | null
  }[]
  /** The first partition with a filesystem labelled `boot`, or /boot in one labelled `root`; null without one. */
  boot: BootPartitionReport | null
}

interface BootPartitionReport {
  partition: number
  /** `/ignition/config.ign` with its permission bits and SHA-256 in hex. */
  ignition: { bytes: Buffer; mode: number; sha256: string } | null
  /** True if the next boot is a first boot: Ignition will run. */
  firstBoot: boolean
  /** Kernel arguments in `ignition.firstboot` for the first boot. */
  firstBootSettings: string
  /** The last boot loader entry by name, which GRUB boots. */
  entry: { path: string; title: string; kernelArguments: string[] } | null
}

/**
 * Reads the contents of a disk.
 *
 * @param disk a device, or a raw disk file of this host
 * @throws the file system's or the disk's error; UserError boot-filesystem-damaged
 */
export async function inspectDisk(
  disk: SimulatedDisk | { path: string; sectorSize?: number },
  clock: Clock,
): Promise<DiskReport> {
  if ('read' in disk) return readDiskReport(disk, clock)
  const sectorSize = disk.sectorSize ?? 512
  const device = await openFileDisk({ path: disk.path, name: 'disk', sectorSize, clock, readOnly: true })
  try {
    return await readDiskReport(device, clock)
  } finally {
    await device[Symbol.asyncDispose]()
  }
}

async function readDiskReport(device: SimulatedDisk, clock: Clock): Promise<DiskReport> {
  const { table, gpt, partitions } = await readLayout(device)
  const boot = findBootPlace(partitions)
  return {
    size: device.size,
    sectorSize: device.sectorSize,
    table,
    diskGuid: gpt?.diskGuid ?? null,
    partitions: partitions.map(({ number, offset, length, gpt, filesystem }) => ({
      number,
      name: gpt?.name ?? null,
      type: gpt?.type ?? null,
      offset,
      length,
      filesystem: filesystem ?? null,
    })),
    boot: boot
      ? await withBootPlace(device, boot, clock, (volume) => readBoot(volume, boot.partition), {
          readOnly: true,
        })
          // A root filesystem is no boot filesystem where it has no entry.
          .then((report) => (boot.folder !== '' && report.entry === null ? null : report))
          .catch(explained)
      : null,
  }
}

function explained(cause: unknown): never {
  if (!(cause instanceof VolumeError)) throw cause
  throw new UserError('boot-filesystem-damaged', `the boot filesystem cannot be read: ${cause.message}`, {
    kind: 'failure',
    remedy: 'install the disk again, from an image with the published checksum',
  })
}

async function readBoot(volume: BootVolume, partition: number): Promise<BootPartitionReport> {
  const firstBoot = await volume.exists('/ignition.firstboot')
  return {
    partition,
    ignition: await readBootIgnition(volume),
    firstBoot,
    firstBootSettings: firstBoot ? (await volume.read('/ignition.firstboot')).toString('utf8') : '',
    entry: await readEntry(volume),
  }
}

async function readBootIgnition(volume: BootVolume): Promise<BootPartitionReport['ignition']> {
  const path = '/ignition/config.ign'
  if (!(await volume.exists(path))) return null
  const bytes = await volume.read(path)
  const { mode } = await volume.stat(path)
  return { bytes, mode, sha256: sha256Hex(bytes) }
}

async function readEntry(volume: BootVolume): Promise<BootPartitionReport['entry']> {
  const folder = '/loader/entries'
  if (!(await volume.exists(folder))) return null
  const name = (await volume.list(folder)).filter((name) => name.endsWith('.conf')).at(-1)
  if (name === undefined) return null
  const path = `${folder}/${name}`
  const text = (await volume.read(path)).toString('utf8')
  const field = (key: string) => new RegExp(`^${key}[ \\t]+(.*)$`, 'm').exec(text)?.[1]?.trim() ?? ''
  return { path, title: field('title'), kernelArguments: kernelWords(field('options')) }
}
