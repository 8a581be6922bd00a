import type { SimulatedDisk } from './block-device.js'
import { DiskError } from './disk-error.js'
import type { MdLevel } from './md-superblock.js'
import { bufferOf } from '../../base/bytes/index.js'

/** The data range of a member: bytes from the beginning of its device. */
interface MdMember {
  device: SimulatedDisk
  offset: number
}

export interface MdGeometry {
  /** `md127` */
  name: string
  level: MdLevel
  /** Bytes; ignored for a mirror. */
  chunk: number
  /** Bytes of each member that the array uses; a multiple of the chunk. */
  memberSize: number
  sectorSize: number
  /** Members by role; undefined for a missing one. */
  members: readonly (MdMember | undefined)[]
}

/** True if enough members are there for an array to run. Double failures of RAID 6 are not simulated. */
export function isRunnable({ level, members }: Pick<MdGeometry, 'level' | 'members'>): boolean {
  const missing = members.filter((member) => member === undefined).length
  switch (level) {
    case 0:
      return missing === 0
    case 1:
      return missing < members.length
    case 5:
    case 6:
      return missing <= 1
    case 10:
      return members.every((member, role) => member ?? members[role ^ 1])
  }
}

/** Bytes that an array offers. */
export function mdSize(level: MdLevel, members: number, memberSize: number): number {
  switch (level) {
    case 0:
      return members * memberSize
    case 1:
      return memberSize
    case 5:
      return (members - 1) * memberSize
    case 6:
      return (members - 2) * memberSize
    case 10:
      return (members / 2) * memberSize
  }
}

/** A run of bytes of the array within one chunk, with its position on the members. */
interface Piece {
  /** Offset in the array. */
  at: number
  length: number
  /** Offset in the data of each member. */
  inMember: number
  /** Roles with the bytes themselves. */
  data: number[]
  parity: PieceParity | null
}

/** Roles with the parities of the row, and the index of the bytes in it. */
interface PieceParity {
  p: number
  q: number | null
  index: number
}

/**
 * A software RAID array over its members, in the default layouts of mdadm: left-symmetric for 5 and 6, near copies for
 * 10. The data of a missing member is computed from the others.
 */
export const mdDevice = (geometry: MdGeometry): SimulatedDisk => new MdDevice(geometry)

/** A class: each look at the disks makes the arrays again, and closures would take more memory. */
class MdDevice implements SimulatedDisk {
  readonly name: string
  readonly size: number
  readonly sectorSize: number
  readonly #geometry: MdGeometry

  constructor(geometry: MdGeometry) {
    const { name, level, memberSize, sectorSize, members } = geometry
    this.name = name
    this.size = mdSize(level, members.length, memberSize)
    this.sectorSize = sectorSize
    this.#geometry = geometry
  }

  async read(offset: number, length: number): Promise<Uint8Array> {
    const parts: Buffer[] = []
    for (const piece of this.#pieces(offset, length)) parts.push(await this.#readPiece(piece))
    return Buffer.concat(parts)
  }

  async write(offset: number, bytes: Uint8Array): Promise<void> {
    const all = bufferOf(bytes)
    for (const piece of this.#pieces(offset, bytes.length))
      await this.#writePiece(piece, all.subarray(piece.at - offset, piece.at - offset + piece.length))
    if (offset + bytes.length > this.size) throw new DiskError('ENOSPC', this.name, this.size)
  }

  async discard(offset: number, length: number): Promise<void> {
    const { level, chunk, memberSize, members } = this.#geometry
    const end = Math.min(this.size, offset + length)
    // Rows of zeros have parities of zeros, so whole rows can be discarded on every member.
    const row = level === 1 ? 1 : (this.size / memberSize) * chunk
    const first = Math.ceil(offset / row)
    const last = Math.floor(end / row)
    const step = level === 1 ? 1 : chunk
    if (first >= last) return this.write(offset, Buffer.alloc(Math.max(0, end - offset)))
    for (const member of members)
      if (member) await member.device.discard(member.offset + first * step, (last - first) * step)
    await this.write(offset, Buffer.alloc(first * row - offset))
    await this.write(last * row, Buffer.alloc(end - last * row))
  }

  async flush(): Promise<void> {
    for (const member of this.#geometry.members) await member?.device.flush()
  }

  /** Leaves the members open: they outlive the array. */
  [Symbol.asyncDispose](): PromiseLike<void> {
    return Promise.resolve()
  }

  #pieces(offset: number, length: number): Piece[] {
    return piecesOf(this.#geometry, offset, Math.min(length, this.size - offset))
  }

  /** Reads the first copy that can be read; without one, computes the bytes from the parity. */
  async #readPiece(piece: Piece): Promise<Buffer> {
    const { data, parity, inMember, length } = piece
    let failure: unknown
    for (const role of data)
      if (this.#geometry.members[role])
        try {
          return await this.#readRole(role, inMember, length)
        } catch (error) {
          failure = error
        }
    if (!parity) throw failure ?? new DiskError('EIO', this.name, inMember)
    return this.#rebuildPiece(piece, parity)
  }

  async #rebuildPiece({ data, inMember, length }: Piece, parity: PieceParity): Promise<Buffer> {
    const rebuilt = Buffer.alloc(length)
    for (let role = 0; role < this.#geometry.members.length; role++)
      if (role !== data[0] && role !== parity.q) xor(rebuilt, await this.#readRole(role, inMember, length))
    return rebuilt
  }

  async #writePiece(piece: Piece, bytes: Buffer): Promise<void> {
    const { data, parity, inMember } = piece
    if (parity) {
      const change = Buffer.from(await this.#readPiece(piece))
      xor(change, bytes)
      await this.#addToParity(parity.p, piece, change)
      if (parity.q !== null) await this.#addToParity(parity.q, piece, times2(change, parity.index))
    }
    for (const role of data) await this.#writeRole(role, inMember, bytes)
  }

  async #addToParity(role: number, { inMember, length }: Piece, change: Buffer): Promise<void> {
    if (!this.#geometry.members[role]) return
    const sum = Buffer.from(await this.#readRole(role, inMember, length))
    xor(sum, change)
    await this.#writeRole(role, inMember, sum)
  }

  async #readRole(role: number, at: number, length: number): Promise<Buffer> {
    const member = this.#geometry.members[role]
    if (member) return bufferOf(await member.device.read(member.offset + at, length))
    throw new DiskError('EIO', this.name, at)
  }

  async #writeRole(role: number, at: number, bytes: Uint8Array): Promise<void> {
    const member = this.#geometry.members[role]
    if (member) await member.device.write(member.offset + at, bytes)
  }
}

function piecesOf({ level, chunk, members }: MdGeometry, offset: number, length: number): Piece[] {
  const count = members.length
  const everyone = members.map((_, role) => role)
  if (level === 1) return length > 0 ? [{ at: offset, length, inMember: offset, data: everyone, parity: null }] : []
  const pieces: Piece[] = []
  for (let at = offset; at < offset + length;) {
    const number = Math.floor(at / chunk)
    const within = at - number * chunk
    const place = chunkPlaceOf(level, count, number)
    const piece = Math.min(chunk - within, offset + length - at)
    pieces.push({ at, length: piece, inMember: place.row * chunk + within, data: place.data, parity: place.parity })
    at += piece
  }
  return pieces
}

function chunkPlaceOf(level: Exclude<MdLevel, 1>, count: number, number: number) {
  switch (level) {
    case 0:
      return { row: Math.floor(number / count), data: [number % count], parity: null }
    case 10:
      return {
        row: Math.floor((2 * number) / count),
        data: [(2 * number) % count, (2 * number + 1) % count],
        parity: null,
      }
    case 5:
    case 6: {
      const width = count - (level - 4)
      const row = Math.floor(number / width)
      const index = number % width
      const p = count - 1 - (row % count)
      const q = level === 6 ? (p + 1) % count : null
      return { row, data: [((q ?? p) + 1 + index) % count], parity: { p, q, index } }
    }
  }
}

function xor(into: Buffer, bytes: Buffer): void {
  for (let at = 0; at < into.length; at++) into[at]! ^= bytes[at]!
}

/** Multiplies by 2 `times` times in the field of RAID 6's second parity, whose polynomial is 0x11d. */
function times2(bytes: Buffer, times: number): Buffer {
  const product = Buffer.from(bytes)
  for (let time = 0; time < times; time++)
    for (let at = 0; at < product.length; at++) {
      const value = product[at]!
      product[at] = ((value << 1) ^ (value & 0x80 ? 0x1d : 0)) & 0xff
    }
  return product
}
