import { MIB } from '../../base/runtime/index.js'
import type { RootDirectory, RootFile, RootNode, RootTree } from '../root/root-tree.js'
import type { SimulatedDisk } from './block-device.js'
import { DiskError } from './disk-error.js'

/** A new filesystem. */
export interface NewExt4 {
  label: string
  uuid: string
  /** Seconds since the epoch: the time of all files. */
  time: number
  tree: RootTree
  /** Bytes of files whose contents are holes: they read as zeros. */
  holes?: ReadonlyMap<RootFile, number>
}

/** One block group: more would be bitmaps and inode tables alone, since a simulated system has few files. */
const MAX_EXT4_BYTES = 128 * MIB
const EXT4_BLOCK = 4096
const INODE_BYTES = 256
const INODES = 8192
const INODE_TABLE_BLOCKS = (INODES * INODE_BYTES) / EXT4_BLOCK
/** Superblock, group descriptors, two bitmaps, inode table. */
const FIRST_DATA_BLOCK = 4 + INODE_TABLE_BLOCKS
const ROOT_INODE = 2
/** Also the first inode that is not reserved. */
const LOST_AND_FOUND_INODE = 11

/** From the kernel's ext4.h. */
const FILE_TYPES = { file: 0o100000, directory: 0o040000, link: 0o120000 } as const
const DIRECTORY_ENTRY_TYPES = { file: 1, directory: 2, link: 7 } as const
const EXTENTS_FLAG = 0x80000
const EXTENT_MAGIC = 0xf30a
/** A shorter target of a link is in the inode. */
const MAX_FAST_LINK_BYTES = 60

/**
 * Writes an ext4 filesystem with the files of a tree into a range of a disk: that of `mke2fs -d` without a journal, in one
 * block group of at most 128 MiB. The rest of the range is not written.
 *
 * @throws DiskError ENOSPC where the files do not fit; the disk's own error
 */
export async function writeExt4(
  device: Pick<SimulatedDisk, 'name' | 'write'>,
  range: { offset: number; length: number },
  filesystem: NewExt4,
): Promise<void> {
  const blocks = Math.floor(Math.min(range.length, MAX_EXT4_BYTES) / EXT4_BLOCK)
  const image = new Ext4Image(filesystem, blocks).build()
  if (!image) throw new DiskError('ENOSPC', device.name, range.offset)
  for (let at = 0; at < image.length; at += MIB) await device.write(range.offset + at, image.subarray(at, at + MIB))
}

class Ext4Image {
  readonly #filesystem: NewExt4
  readonly #blocks: number
  readonly #table = Buffer.alloc(INODE_TABLE_BLOCKS * EXT4_BLOCK)
  readonly #contents: Buffer[] = []
  readonly #numbers = new Map<RootNode, number>()
  readonly #links = new Map<RootNode, number>()
  #nextBlock = FIRST_DATA_BLOCK
  #nextInode = LOST_AND_FOUND_INODE + 1
  #folders = 0

  constructor(filesystem: NewExt4, blocks: number) {
    this.#filesystem = filesystem
    this.#blocks = blocks
  }

  /** Undefined where the files do not fit. */
  build(): Buffer | undefined {
    const { root } = this.#filesystem.tree
    const lostAndFound: RootDirectory = { kind: 'directory', mode: 0o700, uid: 0, gid: 0, entries: new Map() }
    const withLost: RootDirectory = { ...root, entries: new Map(root.entries).set('lost+found', lostAndFound) }
    this.#numbers.set(withLost, ROOT_INODE)
    this.#numbers.set(lostAndFound, LOST_AND_FOUND_INODE)
    this.#number(withLost)
    if (this.#nextInode > INODES) return undefined
    this.#folder(withLost, ROOT_INODE)
    for (const [node, number] of this.#numbers) if (node.kind !== 'directory') this.#leaf(node, number)
    if (this.#nextBlock > this.#blocks) return undefined
    return Buffer.concat([
      this.#superblock(),
      this.#descriptors(),
      bitmap(this.#nextBlock, this.#blocks),
      bitmap(this.#nextInode - 1, INODES),
      this.#table,
      ...this.#contents,
    ])
  }

  /** Numbers all nodes, and counts the names of each. */
  #number(folder: RootDirectory): void {
    for (const node of folder.entries.values()) {
      if (!this.#numbers.has(node)) this.#numbers.set(node, this.#nextInode++)
      this.#links.set(node, (this.#links.get(node) ?? 0) + 1)
      if (node.kind === 'directory') this.#number(node)
    }
  }

  #folder(folder: RootDirectory, parent: number): void {
    const number = this.#numbers.get(folder)!
    const below = [...folder.entries].sort(([one], [other]) => (one < other ? -1 : 1))
    const entries = below.map(([name, node]) => directoryEntry(this.#numbers.get(node)!, name, node.kind))
    const self = directoryEntry(number, '.', 'directory')
    const above = directoryEntry(parent, '..', 'directory')
    const content = directoryBlocks([self, above, ...entries])
    const folders = below.filter(([, node]) => node.kind === 'directory')
    this.#inode(number, folder, { links: 2 + folders.length, content, size: content.length })
    this.#folders++
    for (const [, node] of folders) if (node.kind === 'directory') this.#folder(node, number)
  }

  #leaf(node: Exclude<RootNode, RootDirectory>, number: number): void {
    const links = this.#links.get(node) ?? 1
    if (node.kind === 'file') {
      const hole = this.#filesystem.holes?.get(node)
      const content = hole === undefined ? Buffer.from(node.bytes) : Buffer.alloc(0)
      return this.#inode(number, node, { links, content, size: hole ?? content.length })
    }
    const content = Buffer.from(node.target)
    if (content.length >= MAX_FAST_LINK_BYTES)
      return this.#inode(number, node, { links, content, size: content.length })
    this.#inode(number, node, { links, content: Buffer.alloc(0), size: content.length })
    const at = (number - 1) * INODE_BYTES
    this.#table.writeUInt32LE(0, at + 32)
    this.#table.fill(0, at + 40, at + 100)
    content.copy(this.#table, at + 40)
  }

  #inode(number: number, node: RootNode, written: { links: number; content: Buffer; size: number }): void {
    const { links, content, size } = written
    const { time } = this.#filesystem
    const inode = this.#table.subarray((number - 1) * INODE_BYTES, number * INODE_BYTES)
    const blocks = Math.ceil(content.length / EXT4_BLOCK)
    inode.writeUInt16LE(FILE_TYPES[node.kind] | (node.mode & 0o7777), 0)
    inode.writeUInt16LE(node.uid & 0xffff, 2)
    inode.writeUInt32LE(size % 2 ** 32, 4)
    for (const at of [8, 12, 16]) inode.writeUInt32LE(time, at)
    inode.writeUInt16LE(node.gid & 0xffff, 24)
    inode.writeUInt16LE(links, 26)
    inode.writeUInt32LE((blocks * EXT4_BLOCK) / 512, 28)
    inode.writeUInt32LE(EXTENTS_FLAG, 32)
    writeExtents(inode, this.#nextBlock, blocks)
    inode.writeUInt32LE(Math.floor(size / 2 ** 32), 108)
    inode.writeUInt16LE(node.uid >>> 16, 120)
    inode.writeUInt16LE(node.gid >>> 16, 122)
    inode.writeUInt16LE(32, 128)
    this.#nextBlock += blocks
    this.#contents.push(content, Buffer.alloc(blocks * EXT4_BLOCK - content.length))
  }

  #superblock(): Buffer {
    const { label, uuid, time } = this.#filesystem
    const block = Buffer.alloc(EXT4_BLOCK)
    const sb = block.subarray(1024)
    const words: readonly [at: number, value: number][] = [
      [0, INODES],
      [4, this.#blocks],
      [12, this.#blocks - this.#nextBlock],
      [16, INODES - (this.#nextInode - 1)],
      // Blocks of 2^(10 + 2) bytes.
      [24, 2],
      [28, 2],
      [32, 8 * EXT4_BLOCK],
      [36, 8 * EXT4_BLOCK],
      [40, INODES],
      [48, time],
      [64, time],
      [76, 1],
      [84, LOST_AND_FOUND_INODE],
      // filetype, extents
      [96, 0x2 | 0x40],
      // sparse_super, large_file, dir_nlink, extra_isize
      [100, 0x1 | 0x2 | 0x20 | 0x40],
      [264, time],
    ]
    for (const [at, value] of words) sb.writeUInt32LE(value, at)
    sb.writeUInt16LE(0xffff, 54)
    sb.writeUInt16LE(0xef53, 56)
    // Clean; errors are passed over.
    sb.writeUInt16LE(1, 58)
    sb.writeUInt16LE(1, 60)
    sb.writeUInt16LE(INODE_BYTES, 88)
    sb.set(Buffer.from(uuid.replaceAll('-', ''), 'hex'), 104)
    sb.write(label, 120, 16)
    sb.writeUInt16LE(32, 348)
    sb.writeUInt16LE(32, 350)
    return block
  }

  #descriptors(): Buffer {
    const block = Buffer.alloc(EXT4_BLOCK)
    for (const [index, at] of [2, 3, 4].entries()) block.writeUInt32LE(at, 4 * index)
    block.writeUInt16LE(this.#blocks - this.#nextBlock, 12)
    block.writeUInt16LE(INODES - (this.#nextInode - 1), 14)
    block.writeUInt16LE(this.#folders, 16)
    return block
  }
}

/** One extent, or none. */
function writeExtents(inode: Buffer, first: number, blocks: number): void {
  inode.writeUInt16LE(EXTENT_MAGIC, 40)
  inode.writeUInt16LE(blocks === 0 ? 0 : 1, 42)
  inode.writeUInt16LE(4, 44)
  if (blocks === 0) return
  inode.writeUInt16LE(blocks, 56)
  inode.writeUInt32LE(first, 60)
}

/** The first `used` bits, and those behind `size`, are set. */
function bitmap(used: number, size: number): Buffer {
  const block = Buffer.alloc(EXT4_BLOCK, 0xff)
  for (let bit = used; bit < size; bit++) block[bit >> 3]! &= ~(1 << (bit & 7))
  return block
}

function directoryEntry(inode: number, name: string, kind: RootNode['kind']): Buffer {
  const bytes = Buffer.from(name)
  const entry = Buffer.alloc(Math.ceil((8 + bytes.length) / 4) * 4)
  entry.writeUInt32LE(inode, 0)
  entry.writeUInt16LE(entry.length, 4)
  entry.writeUInt8(bytes.length, 6)
  entry.writeUInt8(DIRECTORY_ENTRY_TYPES[kind], 7)
  bytes.copy(entry, 8)
  return entry
}

/** No entry crosses a block, and the last one of each ends with it. */
function directoryBlocks(entries: readonly Buffer[]): Buffer {
  const blocks: Buffer[][] = [[]]
  let used = 0
  for (const entry of entries) {
    if (used + entry.length > EXT4_BLOCK) {
      blocks.push([])
      used = 0
    }
    blocks.at(-1)!.push(entry)
    used += entry.length
  }
  return Buffer.concat(blocks.map(paddedDirectoryBlock))
}

function paddedDirectoryBlock(entries: readonly Buffer[]): Buffer {
  const used = entries.reduce((sum, { length }) => sum + length, 0)
  const last = entries.at(-1)!
  last.writeUInt16LE(EXT4_BLOCK - used + last.length, 4)
  return Buffer.concat([...entries, Buffer.alloc(EXT4_BLOCK - used)])
}
