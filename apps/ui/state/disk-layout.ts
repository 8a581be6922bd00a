import type { DiskDrawing } from '../../../control/index.js'

/** A part of a disk as a box of its drawing. */
export interface DiskBox {
  readonly index: number
  readonly left: number
  readonly width: number
}

interface ShownExtent {
  readonly offset: number
  readonly length: number
}

/**
 * Places partitions to scale, in a drawing of a width. One that would be thinner than `least` gets that much, and what
 * comes after it moves to the right as far as it must.
 */
export function diskBoxes(size: number, parts: readonly ShownExtent[], width: number, least: number): DiskBox[] {
  const sorted = parts.map((part, index) => ({ ...part, index })).sort((a, b) => a.offset - b.offset)
  const thin = Math.min(least, width / Math.max(1, sorted.length))
  const wanted = sorted.map(({ length }) => Math.max(thin, (length / size) * width))
  const scale = Math.min(
    1,
    width /
      Math.max(
        1,
        wanted.reduce((sum, one) => sum + one, 0),
      ),
  )
  let left = 0
  return sorted.map(({ offset, index }, at) => {
    const room = wanted.slice(at).reduce((sum, one) => sum + one, 0) * scale
    left = Math.max(left, Math.min((offset / size) * width, width - room))
    const box = { index, left, width: wanted[at]! * scale }
    left += box.width
    return box
  })
}

/** A disk of which less than this share is in use is drawn up to there. */
const MOSTLY_EMPTY = 1 / 4

/**
 * The end of the part of a disk that is in use: its partitions, and what was written beside them but at the very end,
 * where a partition table has its copy. Null where that is most of the disk, or nothing.
 */
export function usedEnd({
  size,
  partitions,
  written,
}: Pick<DiskDrawing, 'size' | 'partitions' | 'written'>): number | null {
  const ends = [...partitions, ...written.filter(({ offset }) => offset < size / 2)].map(
    ({ offset, length }) => offset + length,
  )
  const end = Math.max(0, ...ends)
  return partitions.length > 0 && end < size * MOSTLY_EMPTY ? end : null
}

/** Writes of one program in one boot. */
export interface Writes {
  readonly by: string
  readonly boot: string
  /** Time of the last one. */
  readonly at: number
  readonly bytes: number
  readonly ranges: number
  /** Partitions that they are in: their numbers and names. */
  readonly partitions: readonly string[]
}

/** Writes by who made them and in which boot, the last ones first. */
export function writesOf({ written, partitions }: Pick<DiskDrawing, 'written' | 'partitions'>): Writes[] {
  const groups = new Map<string, Writes>()
  for (const { by, boot, at, length, offset } of written) {
    const key = `${boot}\n${by}`
    const group = groups.get(key) ?? { by, boot, at, bytes: 0, ranges: 0, partitions: [] }
    const touched = partitions
      .filter((part) => part.offset < offset + length && offset < part.offset + part.length)
      .map(({ number, name }) => `${number}${name ? ` ${name}` : ''}`)
    groups.set(key, {
      by,
      boot,
      at: Math.max(at, group.at),
      bytes: group.bytes + length,
      ranges: group.ranges + 1,
      partitions: [...new Set([...group.partitions, ...touched])],
    })
  }
  return [...groups.values()].sort((a, b) => b.at - a.at)
}

const BYTE_UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB']

export function bytesText(bytes: number): string {
  const unit = bytes < 1024 ? 0 : Math.min(BYTE_UNITS.length - 1, Math.floor(Math.log2(bytes) / 10))
  const value = bytes / 1024 ** unit
  return `${Number.isInteger(value) ? value : value.toFixed(1)} ${BYTE_UNITS[unit]}`
}
