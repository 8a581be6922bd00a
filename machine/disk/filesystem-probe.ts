import type { SimulatedDisk } from './block-device.js'
import { luksUuid } from './luks-header.js'
import { MD_SUPERBLOCK_LENGTH, MD_SUPERBLOCK_OFFSET, parseMdSuperblock } from './md-superblock.js'
import { bufferOf } from '../../base/bytes/index.js'

export type FilesystemType = 'ext2' | 'ext3' | 'ext4' | 'vfat' | 'xfs' | 'swap' | 'linux_raid_member' | 'crypto_LUKS'

/** A filesystem as lsblk and blkid show it. */
export interface Filesystem {
  type: FilesystemType
  label: string | null
  /** As blkid prints it: eight hex digits with a dash for vfat. */
  uuid: string | null
}

/** Recognises a filesystem by its superblock, `length` bytes from `offset`; undefined for an unknown one. */
export async function probeFilesystem(
  device: Pick<SimulatedDisk, 'read'>,
  offset: number,
  length: number,
): Promise<Filesystem | undefined> {
  return recogniseFilesystem(await device.read(offset, Math.min(length, MD_SUPERBLOCK_OFFSET + MD_SUPERBLOCK_LENGTH)))
}

/** Bytes from the start of a filesystem that contain all known superblocks. */
export const SUPERBLOCK_AREA_BYTES = 4096

/** Recognises a filesystem from its first {@link SUPERBLOCK_AREA_BYTES} bytes. */
export function recogniseFilesystem(bytes: Uint8Array): Filesystem | undefined {
  const start = bufferOf(bytes)
  return raidMember(start) ?? luks(start) ?? ext(start) ?? xfs(start) ?? swap(start) ?? vfat(start)
}

/** Recognises a member of a RAID array. Tried first, as in blkid, since a filesystem in the member belongs to the array. */
function raidMember(start: Buffer): Filesystem | undefined {
  const member = parseMdSuperblock(start.subarray(MD_SUPERBLOCK_OFFSET))
  if (!member) return undefined
  return {
    type: 'linux_raid_member',
    label: member.name || null,
    uuid: formatUuid(Buffer.from(member.arrayUuid, 'hex')),
  }
}

function luks(start: Buffer): Filesystem | undefined {
  const uuid = luksUuid(start)
  return uuid === undefined ? undefined : { type: 'crypto_LUKS', label: null, uuid }
}

const EXT_SUPERBLOCK = 1024
/** Feature bits from the kernel's ext4.h. */
const COMPAT_HAS_JOURNAL = 0x4
/** FILETYPE, RECOVER and META_BG: the incompatible features of ext3. */
const INCOMPAT_EXT3 = 0x2 | 0x4 | 0x10
/** SPARSE_SUPER, LARGE_FILE and BTREE_DIR. */
const RO_COMPAT_EXT3 = 0x1 | 0x2 | 0x4

function ext(start: Buffer): Filesystem | undefined {
  const sb = start.subarray(EXT_SUPERBLOCK)
  if (sb.length < 264 || sb.readUInt16LE(56) !== 0xef53) return undefined
  const newer = (sb.readUInt32LE(96) & ~INCOMPAT_EXT3) !== 0 || (sb.readUInt32LE(100) & ~RO_COMPAT_EXT3) !== 0
  const type = newer ? 'ext4' : (sb.readUInt32LE(92) & COMPAT_HAS_JOURNAL) !== 0 ? 'ext3' : 'ext2'
  return { type, label: decodeLabel(sb.subarray(120, 136)), uuid: formatUuid(sb.subarray(104, 120)) }
}

function xfs(start: Buffer): Filesystem | undefined {
  if (start.toString('latin1', 0, 4) !== 'XFSB') return undefined
  return { type: 'xfs', label: decodeLabel(start.subarray(108, 120)), uuid: formatUuid(start.subarray(32, 48)) }
}

function swap(start: Buffer): Filesystem | undefined {
  if (start.toString('latin1', 4086, 4096) !== 'SWAPSPACE2') return undefined
  return { type: 'swap', label: decodeLabel(start.subarray(1052, 1068)), uuid: formatUuid(start.subarray(1036, 1052)) }
}

function vfat(start: Buffer): Filesystem | undefined {
  if (start.length < 512 || start.readUInt16LE(510) !== 0xaa55) return undefined
  const at =
    start.toString('latin1', 82, 87) === 'FAT32' ? 67 : start.toString('latin1', 54, 57) === 'FAT' ? 39 : undefined
  if (at === undefined) return undefined
  const serial = start.readUInt32LE(at).toString(16).toUpperCase().padStart(8, '0')
  const label = decodeLabel(start.subarray(at + 4, at + 15))
  return {
    type: 'vfat',
    label: label === 'NO NAME' ? null : label,
    uuid: `${serial.slice(0, 4)}-${serial.slice(4)}`,
  }
}

function decodeLabel(bytes: Buffer): string | null {
  return bytes.toString('utf8').replace(/\0.*$/s, '').trimEnd() || null
}

function formatUuid(bytes: Buffer): string | null {
  if (bytes.every((byte) => byte === 0)) return null
  const hex = bytes.toString('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}
