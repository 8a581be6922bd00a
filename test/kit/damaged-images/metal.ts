import { readFileSync } from 'node:fs'
import { crc32, gzipSync } from 'node:zlib'
import lzma from 'lzma-native'
import { buildGpt, parseGpt } from '../../../machine/disk/gpt.js'
import { REHEARSAL_IMAGE } from '../../../lab/index.js'
import { changeField, damage, type Chance, type Field } from './chance.js'

const MIB = 2 ** 20
const SECTOR = 512
const ESP = 'c12a7328-f81f-11d2-ba4b-00a0c93ec93b'
const LINUX = '0fc63daf-8483-4772-8e79-3d69d8477de4'

/** A metal image as small as its boot filesystem lets it be, in every format. */
export interface MetalImage {
  raw: Buffer
  xz: Buffer
  gz: Buffer
  zst: Buffer
}

/** Where the boot filesystem begins in {@link MetalImage.raw}. */
export const BOOT = 2 * MIB

/** Made of the boot filesystem of the rehearsal image, cut off behind its last block that is in use. */
export async function metalImage(): Promise<MetalImage> {
  const xz = readFileSync(REHEARSAL_IMAGE)
  const whole = await new Promise<Buffer>((resolve) => void lzma.decompress(xz, {}, resolve))
  const boot = parseGpt(whole, SECTOR).partitions.find(({ name }) => name === 'boot')!
  let end = boot.offset + boot.length
  while (whole.subarray(end - 4096, end).every((byte) => byte === 0)) end -= 4096
  const sectors = (bytes: number) => bytes / SECTOR
  const partition = (number: number, name: string, type: string, from: number, to: number) => ({
    number,
    name,
    type,
    guid: `00000000-0000-4000-a000-00000000001${number}`,
    firstLba: sectors(from),
    lastLba: sectors(to) - 1,
  })
  const { primary } = buildGpt({
    size: BOOT + boot.length + MIB,
    sectorSize: SECTOR,
    diskGuid: '00000000-0000-4000-a000-000000000001',
    partitions: [
      partition(2, 'EFI-SYSTEM', ESP, MIB, BOOT),
      partition(3, 'boot', LINUX, BOOT, BOOT + boot.length),
      partition(4, 'root', LINUX, BOOT + boot.length, BOOT + boot.length + MIB / 2),
    ],
  })
  const raw = Buffer.concat([primary, Buffer.alloc(BOOT - primary.length), whole.subarray(boot.offset, end)])
  return {
    raw,
    xz: await new Promise((resolve) => lzma.compress(raw, { preset: 1 }, resolve)),
    gz: gzipSync(raw, { level: 1 }),
    zst: readFileSync(new URL('../../fixtures/coreos-installer/coreos-metal.raw.zst', sources())),
  }
}

/** This folder among the sources, also when it runs compiled. */
const sources = (): string => import.meta.url.replace('/dist/test/', '/test/')

/** The header's fields: revision, size, this and other header, usable sectors, entries: where, how many, how large. */
const HEADER: readonly Field[] = [
  ...[8, 12, 80, 84].map((at) => ({ at, width: 4 }) as const),
  ...[24, 32, 40, 48, 72].map((at) => ({ at, width: 8 }) as const),
].map(({ at, width }) => ({ at: SECTOR + at, width }))
const ENTRIES = 2 * SECTOR

/** Damages the partition table: most times so that its checksums are right. */
export function mutateGpt(raw: Buffer, by: Chance): Buffer {
  const kind = by.below(8)
  if (kind === 0) return damage(raw, by, ENTRIES + 128 * 128)
  if (kind === 1) return moveTable(raw, by)
  for (let times = 1 + by.below(3); times > 0; times--)
    if (kind < 4) changeField(raw, by.pick(HEADER), by)
    else changeEntry(raw, ENTRIES + 128 * by.pick([1, 2, 3, 0, 4, 127]), by)
  if (by.below(8) > 0) sign(raw)
  return raw
}

function changeEntry(raw: Buffer, at: number, by: Chance): void {
  switch (by.below(5)) {
    case 0: // Over, in front of or behind another.
      raw.copy(raw, at + 32, ENTRIES + 128 * 2 + 32, ENTRIES + 128 * 2 + 48)
      return
    case 1: // The same number of partitions labelled boot as there are entries.
      raw.copy(raw, at, ENTRIES + 128 * 2, ENTRIES + 128 * 3)
      return
    case 2: // A name that is no text.
      by.bytes(72).copy(raw, at + 56)
      return
    default:
      changeField(raw, { at: at + by.pick([0, 32, 40, 32, 40, 48]), width: 8 }, by)
  }
}

/** The table of a disk with sectors of 4096 bytes, or an MBR instead of one. */
function moveTable(raw: Buffer, by: Chance): Buffer {
  if (by.below(2) === 0) raw.copyWithin(4096, SECTOR, SECTOR + 40 * SECTOR)
  raw.fill(0, SECTOR, 2 * SECTOR)
  for (let index = 0; index < 4; index++) {
    const at = 446 + 16 * index
    raw[at] = by.pick([0, 0x80, by.below(256)])
    raw[at + 4] = by.pick([0, 5, 0x0f, 0x83, 0xee, 0xef])
    raw.writeUInt32LE(by.pick([0, 1, 2048, BOOT / SECTOR, 0xffffffff]), at + 8)
    raw.writeUInt32LE(by.pick([0, 1, 2048, 49152, 0xffffffff]), at + 12)
  }
  return raw
}

/** Makes both checksums right again, as far as the header allows it. */
function sign(raw: Buffer): void {
  const count = raw.readUInt32LE(SECTOR + 80)
  const size = raw.readUInt32LE(SECTOR + 84)
  const entries = Number(raw.readBigUInt64LE(SECTOR + 72)) * SECTOR
  if (count * size < MIB && entries + count * size < raw.length)
    raw.writeUInt32LE(crc32(raw.subarray(entries, entries + count * size)), SECTOR + 88)
  const length = raw.readUInt32LE(SECTOR + 12)
  if (length < 92 || length > SECTOR) return
  raw.writeUInt32LE(0, SECTOR + 16)
  raw.writeUInt32LE(crc32(raw.subarray(SECTOR, SECTOR + length)), SECTOR + 16)
}
