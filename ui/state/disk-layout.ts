/** A part of a disk as a box of its drawing. */
export interface DiskBox {
  readonly index: number
  readonly left: number
  readonly width: number
}

interface Extent {
  readonly offset: number
  readonly length: number
}

/**
 * Places partitions to scale, in a drawing of a width. One that would be thinner than `least` gets that much, and what
 * comes after it moves to the right as far as it must.
 */
export function diskBoxes(size: number, parts: readonly Extent[], width: number, least: number): DiskBox[] {
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

const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB']

export function bytesText(bytes: number): string {
  const unit = bytes < 1024 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log2(bytes) / 10))
  const value = bytes / 1024 ** unit
  return `${Number.isInteger(value) ? value : value.toFixed(1)} ${UNITS[unit]}`
}
