import { errorChain, type Clock } from '../../base/runtime/index.js'
import type { DiskSpec } from '../machine-spec.js'
import type { SimulatedDisk } from './block-device.js'
import { inspectDisk, type DiskReport } from './inspect-disk.js'
import type { WrittenRange } from './write-log.js'

/** Data of a drawing of a disk. Offsets and lengths in bytes. */
export interface DiskDrawing extends Pick<DiskSpec, 'name' | 'size' | 'sectorSize' | 'serial' | 'model'> {
  table: DiskReport['table']
  guid: string | null
  partitions: (DiskReport['partitions'][number] & {
    /** Bytes of it that were written in the last run. */
    changed: number
  })[]
  /** Ranges that were written while ironstage ran, each with its last write. */
  written: readonly WrittenRange[]
  /** The last boot that wrote to the disk, and how many bytes of it are its; null when nothing was written. */
  lastRun: { boot: string; at: number; bytes: number } | null
  /** The next boot, as the boot filesystem has it; null without one. */
  boot: {
    partition: number
    firstBoot: boolean
    title: string | null
    kernelArguments: string[]
    ignition: { size: number; mode: number; sha256: string } | null
  } | null
  /** Reason why its contents cannot be read. */
  problem: string | null
}

/** Draws a disk from its bytes and its writes. */
export async function drawDisk(
  { spec, device, written }: { spec: DiskSpec; device: SimulatedDisk | undefined; written: readonly WrittenRange[] },
  clock: Clock,
): Promise<DiskDrawing> {
  const { name, size, sectorSize, serial, model } = spec
  let problem: string | null = null
  const found =
    device &&
    (await inspectDisk(device, clock).catch((error: unknown) => {
      // A program may be in the middle of writing the table or the filesystem.
      problem = errorChain(error).join(': ')
      return undefined
    }))
  const latest = written.reduce<WrittenRange | undefined>((a, b) => (a && a.at >= b.at ? a : b), undefined)
  const ofLastRun = written.filter(({ boot }) => boot === latest?.boot)
  const boot = found?.boot
  return {
    name,
    size,
    sectorSize,
    serial,
    model,
    table: found?.table ?? null,
    guid: found?.diskGuid ?? null,
    partitions: (found?.partitions ?? []).map((partition) => ({
      ...partition,
      changed: ofLastRun.reduce((sum, range) => sum + overlapOf(partition, range), 0),
    })),
    written,
    lastRun: latest
      ? { boot: latest.boot, at: latest.at, bytes: ofLastRun.reduce((sum, { length }) => sum + length, 0) }
      : null,
    boot: boot
      ? {
          partition: boot.partition,
          firstBoot: boot.firstBoot,
          title: boot.entry?.title ?? null,
          kernelArguments: boot.entry?.kernelArguments ?? [],
          ignition: boot.ignition && {
            size: boot.ignition.bytes.length,
            mode: boot.ignition.mode,
            sha256: boot.ignition.sha256,
          },
        }
      : null,
    problem,
  }
}

interface DrawnExtent {
  offset: number
  length: number
}

const overlapOf = (a: DrawnExtent, b: DrawnExtent): number =>
  Math.max(0, Math.min(a.offset + a.length, b.offset + b.length) - Math.max(a.offset, b.offset))
