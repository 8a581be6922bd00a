import { bufferOf } from '../../base/bytes/index.js'

/** Level of an array as the superblock numbers it. */
export type MdLevel = 0 | 1 | 5 | 6 | 10

/** Offset of a superblock of version 1.2 in the member. */
export const MD_SUPERBLOCK_OFFSET = 4096
export const MD_SUPERBLOCK_LENGTH = 1024
const MD_MAGIC = 0xa92b4efc
const MD_SECTOR_BYTES = 512
const MAX_MD_ROLES = (MD_SUPERBLOCK_LENGTH - 256) / 2
/** Entry of the table of roles for a slot without a member. */
const NO_ROLE = 0xffff

/** Superblock of a member of a software RAID array (the kernel's struct mdp_superblock_1). */
export interface MdSuperblock {
  /** 32 hex digits. */
  arrayUuid: string
  /** `HOST:NAME` */
  name: string
  level: MdLevel
  layout: number
  /** Bytes; 0 for a mirror. */
  chunk: number
  /** Number of members of the complete array. */
  members: number
  /** Bytes of each member that the array uses. */
  memberSize: number
  /** Bytes from the beginning of the member to its data. */
  dataOffset: number
  deviceUuid: string
  /** Role of this member, from 0. */
  role: number
  /** Milliseconds since 1970. */
  created: number
  events: number
}

/** @returns undefined when there is no superblock that matches its checksum */
export function parseMdSuperblock(bytes: Uint8Array): MdSuperblock | undefined {
  const sb = bufferOf(bytes)
  if (sb.length < 256 || sb.readUInt32LE(0) !== MD_MAGIC || sb.readUInt32LE(4) !== 1) return undefined
  const roles = sb.readUInt32LE(220)
  if (roles > MAX_MD_ROLES || sb.length < 256 + 2 * roles || sb.readUInt32LE(216) !== checksum(sb, roles))
    return undefined
  const level = ([0, 1, 5, 6, 10] as const).find((known) => known === sb.readInt32LE(72))
  if (level === undefined) return undefined
  return {
    arrayUuid: sb.toString('hex', 16, 32),
    name: sb.toString('utf8', 32, 64).replace(/\0.*$/s, ''),
    level,
    layout: sb.readUInt32LE(76),
    chunk: sb.readUInt32LE(88) * MD_SECTOR_BYTES,
    members: sb.readUInt32LE(92),
    memberSize: Number(sb.readBigUInt64LE(80)) * MD_SECTOR_BYTES,
    dataOffset: Number(sb.readBigUInt64LE(128)) * MD_SECTOR_BYTES,
    deviceUuid: sb.toString('hex', 168, 184),
    role: sb.readUInt16LE(256 + 2 * sb.readUInt32LE(160)),
    created: Number(sb.readBigUInt64LE(64) & 0xff_ffff_ffffn) * 1000,
    events: Number(sb.readBigUInt64LE(200)),
  }
}

/** Bytes at {@link MD_SUPERBLOCK_OFFSET} of a member of `length` bytes. */
export function buildMdSuperblock(member: MdSuperblock, length: number): Buffer {
  const sb = Buffer.alloc(MD_SUPERBLOCK_LENGTH)
  const sectors = (bytes: number) => BigInt(Math.floor(bytes / MD_SECTOR_BYTES))
  sb.writeUInt32LE(MD_MAGIC, 0)
  sb.writeUInt32LE(1, 4)
  sb.write(member.arrayUuid, 16, 'hex')
  sb.write(Buffer.from(member.name).subarray(0, 32).toString('latin1'), 32, 'latin1')
  sb.writeBigUInt64LE(BigInt(Math.floor(member.created / 1000)), 64)
  sb.writeInt32LE(member.level, 72)
  sb.writeUInt32LE(member.layout, 76)
  sb.writeBigUInt64LE(sectors(member.memberSize), 80)
  sb.writeUInt32LE(member.chunk / MD_SECTOR_BYTES, 88)
  sb.writeUInt32LE(member.members, 92)
  sb.writeBigUInt64LE(sectors(member.dataOffset), 128)
  sb.writeBigUInt64LE(sectors(length - member.dataOffset), 136)
  sb.writeBigUInt64LE(BigInt(MD_SUPERBLOCK_OFFSET / MD_SECTOR_BYTES), 144)
  sb.writeUInt32LE(member.role, 160)
  sb.write(member.deviceUuid, 168, 'hex')
  sb.writeBigUInt64LE(BigInt(Math.floor(member.created / 1000)), 192)
  sb.writeBigUInt64LE(BigInt(member.events), 200)
  // Resync offset: all ones mean that the array is in sync.
  sb.writeBigUInt64LE(0xffff_ffff_ffff_ffffn, 208)
  const roles = Math.min(MAX_MD_ROLES, Math.max(128, member.members))
  sb.writeUInt32LE(roles, 220)
  for (let role = 0; role < roles; role++) sb.writeUInt16LE(role < member.members ? role : NO_ROLE, 256 + 2 * role)
  sb.writeUInt32LE(checksum(sb, roles), 216)
  return sb
}

/** The sum of all 32-bit words except the checksum itself, with the carry added. */
function checksum(sb: Buffer, roles: number): number {
  let sum = 0
  const end = 256 + 2 * roles
  for (let at = 0; at + 4 <= end; at += 4) if (at !== 216) sum += sb.readUInt32LE(at)
  if (end % 4 === 2) sum += sb.readUInt16LE(end - 2)
  return ((sum % 2 ** 32) + Math.floor(sum / 2 ** 32)) >>> 0
}

/** `3aaa0122:29827cfa:5331ad66:ca767371`, as mdadm prints UUIDs. */
export const mdUuid = (hex: string): string => hex.match(/.{8}/g)!.join(':')
