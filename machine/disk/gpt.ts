import { crc32 } from 'node:zlib'
import type { SimulatedDisk } from './block-device.js'
import { bufferOf } from '../../base/bytes/index.js'

/** Sizes of the UEFI specification, 5.3; 128 entries is what every tool writes. */
export const HEADER_SIZE = 92
const ENTRY_SIZE = 128
const GPT_ENTRIES = 128
/** Limit on entries, since a damaged header can have any number. */
const MAX_GPT_ENTRIES = 1024
const SIGNATURE = 'EFI PART'

export interface GptPartition {
  /** Number from 1. */
  number: number
  /** Lower-case GUIDs. */
  type: string
  guid: string
  name: string
  attributes: bigint
  firstLba: number
  /** Inclusive. */
  lastLba: number
  /** Bytes. */
  offset: number
  length: number
}

export interface Gpt {
  diskGuid: string
  sectorSize: number
  currentLba: number
  backupLba: number
  firstUsableLba: number
  lastUsableLba: number
  entriesLba: number
  partitions: GptPartition[]
}

/** Why bytes are not a usable partition table. */
export class NotAGpt extends Error {
  override name = 'NotAGpt'

  constructor(
    message: string,
    /** Checksums of the entries, when these do not match. */
    readonly checksums?: { computed: number; expected: number },
  ) {
    super(message)
  }
}

/**
 * Parses the primary table at the start of `bytes`, checking both checksums.
 *
 * @param bytes the beginning of a disk; 1 MiB is enough
 * @throws NotAGpt
 */
export function parseGpt(bytes: Uint8Array, sectorSize: number): Gpt {
  const disk = bufferOf(bytes)
  const header = disk.subarray(sectorSize, 2 * sectorSize)
  const { entriesLba, count, entrySize, entriesCrc, ...gpt } = parseHeader(header)
  const table = disk.subarray(entriesLba * sectorSize, entriesLba * sectorSize + count * entrySize)
  return { ...gpt, entriesLba, sectorSize, partitions: parseEntries(table, count, entrySize, entriesCrc, sectorSize) }
}

const hasSignature = (header: Buffer): boolean =>
  header.length >= HEADER_SIZE && header.toString('latin1', 0, SIGNATURE.length) === SIGNATURE

/** An entry whose type is all zeros is not in use. */
const isUnusedEntry = (table: Buffer, at: number): boolean =>
  table.readUInt32LE(at) === 0 &&
  table.readUInt32LE(at + 4) === 0 &&
  table.readUInt32LE(at + 8) === 0 &&
  table.readUInt32LE(at + 12) === 0

function parseHeader(header: Buffer) {
  if (!hasSignature(header)) throw new NotAGpt('there is no GPT signature')
  const size = header.readUInt32LE(12)
  if (size < HEADER_SIZE || size > header.length) throw new NotAGpt(`the GPT header claims to be ${size} bytes long`)
  const copy = Buffer.from(header.subarray(0, size))
  copy.writeUInt32LE(0, 16)
  if (crc32(copy) !== header.readUInt32LE(16)) throw new NotAGpt('the GPT header does not match its checksum')
  const count = header.readUInt32LE(80)
  const entrySize = header.readUInt32LE(84)
  if (count > MAX_GPT_ENTRIES || entrySize < ENTRY_SIZE || entrySize > 4096)
    throw new NotAGpt(`the GPT header claims ${count} entries of ${entrySize} bytes`)
  return {
    currentLba: Number(header.readBigUInt64LE(24)),
    backupLba: Number(header.readBigUInt64LE(32)),
    firstUsableLba: Number(header.readBigUInt64LE(40)),
    lastUsableLba: Number(header.readBigUInt64LE(48)),
    diskGuid: readGuid(header, 56),
    entriesLba: Number(header.readBigUInt64LE(72)),
    count,
    entrySize,
    entriesCrc: header.readUInt32LE(88),
  }
}

function parseEntries(table: Buffer, count: number, entrySize: number, crc: number, sectorSize: number) {
  if (table.length < count * entrySize) throw new NotAGpt('the GPT entries are cut short')
  const computed = crc32(table)
  if (computed !== crc) throw new NotAGpt('the GPT entries do not match their checksum', { computed, expected: crc })
  const partitions: GptPartition[] = []
  for (let index = 0; index < count; index++) {
    // Skip unused entries early: tables are read often, and most entries are unused.
    if (isUnusedEntry(table, index * entrySize)) continue
    const entry = table.subarray(index * entrySize, (index + 1) * entrySize)
    const type = readGuid(entry, 0)
    const firstLba = Number(entry.readBigUInt64LE(32))
    const lastLba = Number(entry.readBigUInt64LE(40))
    partitions.push({
      number: index + 1,
      type,
      guid: readGuid(entry, 16),
      name: entry.toString('utf16le', 56, 128).replace(/\0.*$/s, ''),
      attributes: entry.readBigUInt64LE(48),
      firstLba,
      lastLba,
      offset: firstLba * sectorSize,
      length: Math.max(0, lastLba - firstLba + 1) * sectorSize,
    })
  }
  return partitions
}

/** Sector size of a table, by the position of its header; undefined without GPT. */
export function gptSectorSize(bytes: Uint8Array): 512 | 4096 | undefined {
  const disk = bufferOf(bytes)
  for (const size of [512, 4096] as const)
    if (disk.toString('latin1', size, size + SIGNATURE.length) === SIGNATURE) return size
  return undefined
}

/**
 * Reads a disk's primary table in the disk's own sector size. The backup is not used, as Linux does not use it without
 * `gpt` on its command line.
 *
 * @returns undefined when there is no valid table
 */
export async function readGpt(device: Pick<SimulatedDisk, 'sectorSize' | 'read'>): Promise<Gpt | undefined> {
  const header = bufferOf(await device.read(device.sectorSize, device.sectorSize))
  if (!hasSignature(header)) return undefined
  try {
    const { entriesLba, count, entrySize, entriesCrc, ...gpt } = parseHeader(header)
    const table = bufferOf(await device.read(entriesLba * device.sectorSize, count * entrySize))
    const partitions = parseEntries(table, count, entrySize, entriesCrc, device.sectorSize)
    return { ...gpt, entriesLba, sectorSize: device.sectorSize, partitions }
  } catch (error) {
    if (error instanceof NotAGpt) return undefined
    throw error
  }
}

/** A partition of a new table. */
export type NewPartition = Pick<GptPartition, 'number' | 'type' | 'guid' | 'name' | 'firstLba' | 'lastLba'> & {
  attributes?: bigint
}

/** Bytes of a table and their offsets. */
export interface GptBytes {
  /** Protective MBR, header and entries: from the disk's first byte. */
  primary: Buffer
  /** Entries and header: up to the disk's last byte. */
  backup: Buffer
  backupOffset: number
}

/**
 * Builds a table for a disk of `size` bytes, protective MBR included. For a disk without room for it the header's numbers
 * wrap around, as those of coreos-installer do.
 */
export function buildGpt(options: {
  size: number
  sectorSize: number
  diskGuid: string
  partitions: readonly NewPartition[]
}): GptBytes {
  const { size, sectorSize, partitions } = options
  const sectors = Math.floor(size / sectorSize)
  const entrySectors = Math.ceil((GPT_ENTRIES * ENTRY_SIZE) / sectorSize)
  const table = Buffer.alloc(entrySectors * sectorSize)
  for (const partition of partitions) writeEntry(table, partition)
  const entriesCrc = crc32(table.subarray(0, GPT_ENTRIES * ENTRY_SIZE))
  const header = (currentLba: number, backupLba: number, entriesLba: number) => {
    const bytes = Buffer.alloc(sectorSize)
    bytes.write(SIGNATURE, 'latin1')
    bytes.writeUInt32LE(0x10000, 8)
    bytes.writeUInt32LE(HEADER_SIZE, 12)
    bytes.writeBigUInt64LE(BigInt.asUintN(64, BigInt(currentLba)), 24)
    bytes.writeBigUInt64LE(BigInt.asUintN(64, BigInt(backupLba)), 32)
    bytes.writeBigUInt64LE(BigInt(2 + entrySectors), 40)
    bytes.writeBigUInt64LE(BigInt.asUintN(64, BigInt(sectors - entrySectors - 2)), 48)
    writeGuid(bytes, 56, options.diskGuid)
    bytes.writeBigUInt64LE(BigInt.asUintN(64, BigInt(entriesLba)), 72)
    bytes.writeUInt32LE(GPT_ENTRIES, 80)
    bytes.writeUInt32LE(ENTRY_SIZE, 84)
    bytes.writeUInt32LE(entriesCrc, 88)
    bytes.writeUInt32LE(crc32(bytes.subarray(0, HEADER_SIZE)), 16)
    return bytes
  }
  return {
    primary: Buffer.concat([protectiveMbr(sectors, sectorSize), header(1, sectors - 1, 2), table]),
    backup: Buffer.concat([table, header(sectors - 1, 1, sectors - 1 - entrySectors)]),
    backupOffset: (sectors - 1 - entrySectors) * sectorSize,
  }
}

/**
 * Reads a disk's primary table or, when its header is not valid, the backup, as programs do that read the disk
 * themselves.
 *
 * @returns undefined when there is none
 * @throws NotAGpt when the header is valid and the entries are damaged
 */
export async function readEitherGpt(device: SimulatedDisk): Promise<Gpt | undefined> {
  const { sectorSize, size } = device
  for (const lba of [1, Math.floor(size / sectorSize) - 1]) {
    const header = bufferOf(await device.read(lba * sectorSize, sectorSize))
    let found: ReturnType<typeof parseHeader>
    try {
      found = parseHeader(header)
    } catch (error) {
      if (error instanceof NotAGpt) continue
      throw error
    }
    const { entriesLba, count, entrySize, entriesCrc, ...gpt } = found
    const table = bufferOf(await device.read(entriesLba * sectorSize, count * entrySize))
    return { ...gpt, entriesLba, sectorSize, partitions: parseEntries(table, count, entrySize, entriesCrc, sectorSize) }
  }
  return undefined
}

function protectiveMbr(sectors: number, sectorSize: number): Buffer {
  const mbr = Buffer.alloc(sectorSize)
  // One entry of type 0xee over everything; CHS values as the UEFI specification, table 5.4.
  mbr.set([0x00, 0x00, 0x02, 0x00, 0xee, 0xff, 0xff, 0xff], 446)
  mbr.writeUInt32LE(1, 454)
  mbr.writeUInt32LE(Math.min(Math.max(sectors - 1, 0), 0xffffffff), 458)
  mbr.set([0x55, 0xaa], 510)
  return mbr
}

function writeEntry(table: Buffer, partition: NewPartition): void {
  const at = (partition.number - 1) * ENTRY_SIZE
  writeGuid(table, at, partition.type)
  writeGuid(table, at + 16, partition.guid)
  table.writeBigUInt64LE(BigInt(partition.firstLba), at + 32)
  table.writeBigUInt64LE(BigInt(partition.lastLba), at + 40)
  table.writeBigUInt64LE(partition.attributes ?? 0n, at + 48)
  table.write(partition.name.slice(0, 36), at + 56, 'utf16le')
}

/** GUIDs are stored with their first three groups little-endian. */
export function readGuid(bytes: Buffer, at: number): string {
  const b = Buffer.from(bytes.subarray(at, at + 16))
  b.subarray(0, 4).reverse()
  b.subarray(4, 6).reverse()
  b.subarray(6, 8).reverse()
  const hex = b.toString('hex')
  // Joined, it is one string: those of a layout are kept as long as the disk does not change.
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
}

function writeGuid(bytes: Buffer, at: number, guid: string): void {
  const b = Buffer.from(guid.replaceAll('-', ''), 'hex')
  b.subarray(0, 4).reverse()
  b.subarray(4, 6).reverse()
  b.subarray(6, 8).reverse()
  bytes.set(b, at)
}
