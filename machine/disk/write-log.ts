/** A range of a disk, and who wrote it last. */
export interface WrittenRange {
  /** Bytes from the start of the disk. */
  offset: number
  length: number
  /** Milliseconds since the epoch, in lab time: of the last write. */
  at: number
  /** Boot of the machine in which it was written. */
  boot: string
  /** Program that wrote; `system` for the system on the disk. */
  by: string
}

/** Ranges that are remembered of a disk. Of more, those with the smallest gap become one. */
const MAX_WRITTEN_RANGES = 64

/** The writes to a disk, with their time and program: of each byte the last one. */
export class WriteLog {
  #ranges: WrittenRange[] = []

  /** In the order of their offsets. */
  get ranges(): WrittenRange[] {
    return [...this.#ranges].sort((a, b) => a.offset - b.offset)
  }

  note(range: WrittenRange): void {
    if (range.length <= 0) return
    const end = range.offset + range.length
    const last = this.#ranges.at(-1)
    const goesOn =
      last?.boot === range.boot &&
      last.by === range.by &&
      overlaps(last, { offset: range.offset - 1, length: range.length + 2 })
    const offset = goesOn ? Math.min(last.offset, range.offset) : range.offset
    const length = (goesOn ? Math.max(last.offset + last.length, end) : end) - offset
    const now = { ...range, offset, length }
    const others = goesOn ? this.#ranges.slice(0, -1) : this.#ranges
    this.#ranges = [...others.flatMap((other) => (overlaps(other, now) ? subtractRange(other, now) : [other])), now]
    if (this.#ranges.length > MAX_WRITTEN_RANGES) this.#join()
  }

  restore(ranges: readonly WrittenRange[]): void {
    this.#ranges = [...ranges]
  }

  #join(): void {
    const sorted = this.ranges
    let best = 1
    const gap = (index: number): number => sorted[index]!.offset - sorted[index - 1]!.offset - sorted[index - 1]!.length
    for (let index = 2; index < sorted.length; index++) if (gap(index) < gap(best)) best = index
    const first = sorted[best - 1]!
    const second = sorted[best]!
    const later = first.at > second.at ? first : second
    const joined = { ...later, offset: first.offset, length: second.offset + second.length - first.offset }
    this.#ranges = [joined, ...this.#ranges.filter((range) => range !== first && range !== second)]
  }
}

type WrittenExtent = Pick<WrittenRange, 'offset' | 'length'>

const overlaps = (a: WrittenExtent, b: WrittenExtent): boolean =>
  a.offset < b.offset + b.length && b.offset < a.offset + a.length

/** The parts of a range that another one does not cover. */
function subtractRange(range: WrittenRange, { offset, length }: WrittenExtent): WrittenRange[] {
  const end = range.offset + range.length
  return [
    { ...range, length: offset - range.offset },
    { ...range, offset: offset + length, length: end - offset - length },
  ].filter((part) => part.length > 0)
}
