import { changeField, damage, type Chance, type Field } from './chance.js'

const BLOCK = 4096
const SUPERBLOCK = 1024
const METADATA_CSUM = 0x400

/** Fields of the superblock that say how large and where things are, and which features there are. */
const SUPERBLOCK_FIELDS: readonly Field[] = [
  ...[0, 4, 8, 12, 16, 20, 24, 28, 32, 36, 40, 72, 76, 84, 92, 96, 100, 224, 228, 260, 336, 340, 344, 356].map(
    (at) => ({ at, width: 4 }) as const,
  ),
  ...[56, 58, 60, 88, 206, 254, 348, 350].map((at) => ({ at, width: 2 }) as const),
  ...[372, 373, 374].map((at) => ({ at, width: 1 }) as const),
]
/** Fields of a block group: location of bitmaps and inodes, free counts, flags. */
const GROUP_FIELDS: readonly Field[] = [
  ...[0, 4, 8, 32, 36, 40].map((at) => ({ at, width: 4 }) as const),
  ...[12, 14, 16, 18, 28].map((at) => ({ at, width: 2 }) as const),
]
/** Fields of an inode, extents included. */
const INODE_FIELDS: readonly Field[] = [
  ...[0, 26, 42, 44, 46, 56, 58, 68, 70, 128].map((at) => ({ at, width: 2 }) as const),
  ...[4, 28, 32, 52, 60, 64, 72, 104, 108].map((at) => ({ at, width: 4 }) as const),
]
/** Those of the filesystem in the rehearsal image that an installation looks at. */
const INODES = [2, 8, 12, 13, 14, 16, 17, 18, 19, 20, 21, 22, 23, 24] as const
const FOLDERS = [2, 13, 16, 21, 22, 24] as const
const EXTENTS = 0x80000

/**
 * Damages an ext4 filesystem: three times of four with its checksums switched off, so that readers get as far as to what
 * is wrong.
 *
 * @param at where it begins
 */
export function mutateExt4(image: Buffer, at: number, by: Chance): Buffer {
  const fs = image.subarray(at)
  const features = SUPERBLOCK + 100
  if (by.below(4) > 0) fs.writeUInt32LE(fs.readUInt32LE(features) & ~METADATA_CSUM, features)
  const inodes = fs.readUInt32LE(BLOCK + 8) * BLOCK
  const inode = (number: number) => inodes + 256 * (number - 1)
  for (let times = 1 + by.below(2); times > 0; times--)
    switch (by.below(8)) {
      case 0:
        return Buffer.concat([image.subarray(0, at), damage(fs, by, by.pick([2048, 2 * BLOCK, fs.length]))])
      case 1:
      case 2:
        changeField(fs, shifted(by.pick(SUPERBLOCK_FIELDS), SUPERBLOCK), by)
        break
      case 3:
        changeField(fs, shifted(by.pick(GROUP_FIELDS), BLOCK), by)
        break
      case 4:
      case 5:
        changeField(fs, shifted(by.pick(INODE_FIELDS), inode(by.pick(INODES))), by)
        break
      case 6:
        changeFolder(fs, firstBlock(fs, inode(by.pick(FOLDERS))), by)
        break
      default:
        loop(fs, inode(by.pick(INODES)), by)
    }
  return image
}

const shifted = ({ at, ...field }: Field, by: number): Field => ({ ...field, at: at + by })

/** Bytes from the start of the filesystem to the first block of a file with an extent. */
const firstBlock = (fs: Buffer, inode: number): number => fs.readUInt32LE(inode + 40 + 12 + 8) * BLOCK

/** An entry of a folder: its inode (the folder itself, the root, none), length, length of the name, kind, name. */
function changeFolder(fs: Buffer, folder: number, by: Chance): void {
  if (folder === 0 || folder + BLOCK > fs.length) return
  let at = folder
  for (let skipped = by.below(12); skipped > 0; skipped--) {
    const next = at + fs.readUInt16LE(at + 4)
    if (next === at || next >= folder + BLOCK - 12) break
    at = next
  }
  switch (by.below(6)) {
    case 0:
      fs.writeUInt32LE(by.pick(INODES), at)
      return
    case 1:
      changeField(fs, { at, width: 4 }, by)
      return
    case 2:
      changeField(fs, { at: at + 4, width: 2 }, by)
      return
    case 3:
      changeField(fs, { at: at + 6, width: 1 }, by)
      return
    case 4:
      fs[at + 7] = by.below(256)
      return
    default:
      by.bytes(fs[at + 6]! || 1).copy(fs, at + 8)
  }
}

/** Something that leads to itself: extents, an indirect block, a symbolic link. */
function loop(fs: Buffer, inode: number, by: Chance): void {
  const block = fs.readUInt32LE(inode + 40 + 20) || 4
  switch (by.below(4)) {
    case 0: {
      // An index whose only leaf is an index, itself.
      fs.writeUInt16LE(1 + by.below(5), inode + 46)
      fs.writeUInt32LE(0, inode + 52)
      fs.writeUInt32LE(block, inode + 56)
      fs.writeUInt32LE(0, inode + 60)
      const at = block * BLOCK
      if (at + BLOCK > fs.length) return
      fs.set([0x0a, 0xf3, 1, 0, 0x54, 1, by.below(6), 0, 0, 0, 0, 0], at)
      fs.writeUInt32LE(0, at + 12)
      fs.writeUInt32LE(block, at + 16)
      fs.writeUInt32LE(0, at + 20)
      return
    }
    case 1:
      // Blocks of the old kind, which lead to each other.
      fs.writeUInt32LE(fs.readUInt32LE(inode + 32) & ~EXTENTS, inode + 32)
      for (let index = 0; index < 15; index++)
        fs.writeUInt32LE(by.pick([0, 4, block, 36, 0xffffffff]), inode + 40 + 4 * index)
      fs.writeUInt32LE(by.pick([1, BLOCK, 0x7fffffff, 0xffffffff]), inode + 4)
      return
    case 2: {
      const target = by.pick(['loader', '/loader', '.', '../../..', '/boot/boot/boot', 'a/'.repeat(20)])
      fs.writeUInt16LE(0o120777, inode)
      fs.writeUInt32LE(target.length, inode + 4)
      fs.writeUInt32LE(0, inode + 28)
      fs.writeUInt32LE(0, inode + 32)
      fs.fill(0, inode + 40, inode + 100).write(target, inode + 40)
      return
    }
    default:
      // Much larger than the filesystem.
      fs.writeUInt32LE(0xfffff000, inode + 4)
      fs.writeUInt32LE(by.pick([0, 1, 0x7fffffff]), inode + 108)
  }
}
