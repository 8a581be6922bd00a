import { open, rm } from 'node:fs/promises'
import { buildGpt } from '../../../machine/disk/gpt.js'

const MIB = 2 ** 20
const EDGE = 128 * 1024
const LINUX = '0fc63daf-8483-4772-8e79-3d69d8477de4'

/** The state of a disk before the installation. */
export interface DiskBefore {
  /** MiB; 64 unless said otherwise. */
  size?: number
  /** Bytes; 512 unless said otherwise. */
  sectorSize?: number
  /** `[number, name, first MiB, MiB]` of each partition, or an MBR; unpartitioned unless said otherwise. */
  table?: [number, string, number, number][] | 'dos'
  /** The damaged part of the partition table. */
  damage?: 'primary header' | 'primary entries' | 'both headers'
}

/** A disk on which something stood before. */
export async function makeDisk(path: string, before: DiskBefore): Promise<void> {
  const { size: mib = 64, sectorSize = 512, table, damage } = before
  const size = mib * MIB
  await rm(path, { force: true })
  const file = await open(path, 'w')
  await file.truncate(size)
  // Where tables are, and here and there.
  for (const at of [0, size - EDGE]) await file.write(Buffer.alloc(EDGE, 0xa5), 0, EDGE, at)
  for (let at = 0; at < size; at += 4 * MIB) await file.write(Buffer.alloc(4096, 0xa5), 0, 4096, at)
  if (table === 'dos') {
    const mbr = Buffer.alloc(512)
    mbr.set([0, 0, 2, 0, 0x83, 0xff, 0xff, 0xff, 0, 8, 0, 0, 0, 0x50, 0, 0], 446)
    mbr.set([0x55, 0xaa], 510)
    await file.write(mbr, 0, 512, 0)
  } else if (table) {
    const perMib = MIB / sectorSize
    const { primary, backup, backupOffset } = buildGpt({
      size,
      sectorSize,
      diskGuid: '11111111-2222-4333-8444-555555555555',
      partitions: table.map(([number, name, first, length]) => ({
        number,
        name,
        type: LINUX,
        attributes: number === 7 ? 5n : 0n,
        guid: `11111111-2222-4333-8444-${String(number).padStart(12, '0')}`,
        firstLba: first * perMib,
        lastLba: (first + length) * perMib - 1,
      })),
    })
    if (damage === 'primary entries') primary.fill(0x11, 2 * sectorSize + 4 * 128 + 60, 2 * sectorSize + 4 * 128 + 62)
    if (damage === 'primary header' || damage === 'both headers') primary.fill(0x11, sectorSize, sectorSize + 50)
    if (damage === 'both headers') backup.fill(0x11, backup.length - sectorSize, backup.length - sectorSize + 50)
    await file.write(primary, 0, primary.length, 0)
    await file.write(backup, 0, backup.length, backupOffset)
  }
  await file.close()
}
