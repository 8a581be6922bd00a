/** A range of bytes; `end` is exclusive. */
export interface ByteRange {
  start: number
  end: number
}

/** Limit of ranges in a request; beyond it the whole is sent, as RFC 9110, 17.15 advises against abuse. */
const MAX_REQUEST_RANGES = 16

/**
 * Reads a `Range` header for a representation of `size` bytes (RFC 9110, 14.1.2 and 14.2). `ignore` where it is
 * no range of bytes, or would send more than the whole; `unsatisfiable` where none of it is there.
 */
export function rangesOf(header: string | undefined, size: number): readonly ByteRange[] | 'ignore' | 'unsatisfiable' {
  const set = /^bytes=(.*)$/is.exec(header?.trim() ?? '')?.[1]
  if (set === undefined) return 'ignore'
  const ranges: ByteRange[] = []
  let specs = 0
  for (const spec of set.split(',').map((part) => part.trim())) {
    // A list may have empty members (RFC 9110, 5.6.1).
    if (spec === '') continue
    specs++
    const [, first, last] = /^(\d*)-(\d*)$/.exec(spec) ?? []
    if (first === undefined || last === undefined || (first === '' && last === '')) return 'ignore'
    if (first === '') {
      const length = Math.min(Number(last), size)
      if (length > 0) ranges.push({ start: size - length, end: size })
      continue
    }
    if (last !== '' && Number(last) < Number(first)) return 'ignore'
    const end = last === '' ? size : Math.min(Number(last) + 1, size)
    if (Number(first) < size) ranges.push({ start: Number(first), end })
  }
  if (specs === 0) return 'ignore'
  if (ranges.length === 0) return 'unsatisfiable'
  const total = ranges.reduce((sum, { start, end }) => sum + end - start, 0)
  return ranges.length > MAX_REQUEST_RANGES || (ranges.length > 1 && total > size) ? 'ignore' : ranges
}
