import { MIB, type Random } from '../../../base/runtime/index.js'
import type { SimulatedDisk } from '../../disk/block-device.js'
import { freshGpt, writeFreshGpt, writeGpt } from '../../disk/fresh-gpt.js'
import {
  buildGpt,
  gptSectorSize,
  HEADER_SIZE,
  NotAGpt,
  parseGpt,
  readEitherGpt,
  type Gpt,
  type GptPartition,
} from '../../disk/gpt.js'
import { duringInstall, Failure } from './installer-error.js'
import type { PartitionFilters } from './partition-filters.js'

/** Length of the boot code in an MBR. */
const BOOT_CODE = 446
/** Number of entries in a table. */
const SAVED_GPT_ENTRIES = 128
const ENTRY_SIZE = 128

/** Partitions of the disk that outlive the installation. */
export class SavedPartitions {
  private constructor(
    readonly device: SimulatedDisk,
    /** In the order of their numbers. */
    readonly partitions: readonly GptPartition[],
  ) {}

  /** @throws Failure when the partitions to save cannot be read */
  static read(device: SimulatedDisk, path: string, filters: PartitionFilters): Promise<SavedPartitions> {
    return duringInstall(`saving partitions from ${path}`, async () => {
      if (!filters.any) return new SavedPartitions(device, [])
      const gpt = await readSavedTable(device)
      if (!gpt) {
        if (filters.byIndex && (await hasMbr(device)))
          throw new Failure('saving partitions from an MBR disk is not yet supported')
        return new SavedPartitions(device, [])
      }
      return new SavedPartitions(
        device,
        gpt.partitions.filter((partition) => filters.matches(partition)),
      )
    })
  }

  get any(): boolean {
    return this.partitions.length > 0
  }

  /** Writes a table with a random disk GUID and only the saved partitions, so that the disk does not boot. */
  clearTable(random: Random): Promise<void> {
    return duringInstall('writing new GPT', async () => {
      await refuseTiny(this.device, random)
      await writeFreshGpt(this.device, random, this.partitions)
    })
  }

  /** Bytes of such a table, to be printed so that the user can restore it. */
  tableBytes(random: Random): Uint8Array {
    return freshGpt(this.device, random, this.partitions).primary
  }

  /** The image's bytes up to the first saved partition; fails when the image would overwrite it. */
  async *guarded(decoded: AsyncGenerator<Uint8Array, void, undefined>): AsyncGenerator<Uint8Array, void, undefined> {
    const [first] = [...this.partitions].sort((a, b) => a.offset - b.offset)
    if (!first) return yield* decoded
    let at = 0
    for await (const bytes of decoded) {
      const fitting = Math.min(bytes.length, first.offset - at)
      if (fitting > 0) yield bytes.subarray(0, fitting)
      at += bytes.length
      if (fitting < bytes.length)
        throw new Failure(`collision with partition ${first.number} ("${first.name}") at offset ${first.offset}`)
    }
  }

  /** Writes the image's first MiB, with the saved partitions added to its table. */
  async writeFirstMib(firstMib: Uint8Array, print: (line: string) => void): Promise<void> {
    const { device } = this
    const { size, sectorSize } = device
    if (!this.any) return duringInstall('writing first MiB', () => device.write(0, firstMib))
    await duringInstall('writing updated GPT', async () => {
      const image = await duringInstall("couldn't read partition table from source", () =>
        parseImage(firstMib, sectorSize),
      )
      const table = buildGpt({
        size,
        sectorSize,
        diskGuid: image.diskGuid,
        partitions: [...image.partitions, ...this.#numbered(image, print)],
      })
      table.primary.set(firstMib.subarray(0, BOOT_CODE))
      await writeGpt(device, table)
      await device.write(table.primary.length, firstMib.subarray(table.primary.length, MIB))
    })
  }

  /** Numbers of the saved partitions: their own, or the one after the last when the image uses it. */
  #numbered(image: Gpt, print: (line: string) => void): GptPartition[] {
    const used = new Set(image.partitions.map(({ number }) => number))
    return this.partitions.map((partition) => {
      const number = used.has(partition.number) ? Math.max(...used) + 1 : partition.number
      if (number > SAVED_GPT_ENTRIES)
        throw new Failure(`couldn't find a free partition number for partition ${partition.number}`)
      used.add(number)
      print(`Saving partition ${partition.number} ("${partition.name}") to new partition ${number}`)
      return { ...partition, number }
    })
  }
}

/**
 * Refuses a disk without room for two tables, with the message of coreos-installer 0.27.0 (gptman). A disk smaller than
 * one table gets the beginning of one, as there.
 */
async function refuseTiny(device: SimulatedDisk, random: Random): Promise<void> {
  const { size, sectorSize } = device
  const entrySectors = (SAVED_GPT_ENTRIES * ENTRY_SIZE) / sectorSize
  const sectors = Math.floor(size / sectorSize)
  if (sectors > entrySectors) {
    // At least one usable sector is left.
    if (2 + entrySectors <= sectors - entrySectors - 2 + 1) return
    throw new Failure(
      'invalid partition boundaries: partitions must have positive size, must not overlap, and must fit within the disk',
    )
  }
  const { primary } = freshGpt(device, random)
  const table = Buffer.concat([
    primary.subarray(sectorSize, sectorSize + HEADER_SIZE),
    primary.subarray(2 * sectorSize),
  ])
  if (sectors > 1) await device.write(sectorSize, table.subarray(0, HEADER_SIZE))
  if (sectors > 2) await device.write(2 * sectorSize, table.subarray(HEADER_SIZE, HEADER_SIZE + size - 2 * sectorSize))
  throw new Failure('deserialization failed', new Failure('io error: No space left on device (os error 28)'))
}

/** True if the first sector could be an MBR, a protective one included: signature and boot flags. */
async function hasMbr(device: SimulatedDisk): Promise<boolean> {
  const sector = await device.read(0, 512)
  const flags = [0, 1, 2, 3].map((entry) => sector[BOOT_CODE + 16 * entry]! & 0x7f)
  return sector[510] === 0x55 && sector[511] === 0xaa && flags.every((flag) => flag === 0)
}

async function readSavedTable(device: SimulatedDisk): Promise<Gpt | undefined> {
  const head = await device.read(0, 2 * 4096)
  const written = gptSectorSize(head)
  if (written !== undefined && written !== device.sectorSize)
    throw new Failure(`GPT sector size ${written} doesn't match expected ${device.sectorSize}`)
  return duringInstall('reading partition table', async () => {
    try {
      return await readEitherGpt(device)
    } catch (error) {
      if (!(error instanceof NotAGpt) || !error.checksums) throw error
      const { computed, expected } = error.checksums
      throw new Failure(`corrupted partition entry array CRC32 checksum (${expected} != ${computed})`)
    }
  })
}

function parseImage(firstMib: Uint8Array, sectorSize: number): Gpt {
  try {
    return parseGpt(firstMib, sectorSize)
  } catch (error) {
    if (error instanceof NotAGpt) throw new Failure('invalid signature')
    throw error
  }
}
