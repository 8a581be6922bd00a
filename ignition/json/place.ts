/** Line and column, counted from 1; columns are bytes, as Ignition counts them. */
export interface TextPosition {
  line: number
  column: number
}

/** Converts offsets of one text to places, with a single pass over the text. */
export class Places {
  private readonly lines: number[] = [0]

  constructor(private readonly bytes: Uint8Array) {
    for (let at = bytes.indexOf(0x0a); at >= 0; at = bytes.indexOf(0x0a, at + 1)) this.lines.push(at + 1)
  }

  /** An offset at the end of the text is line 0, column 0, as Ignition prints it. */
  of(offset: number): TextPosition {
    if (offset >= this.bytes.length) return { line: 0, column: 0 }
    let low = 0
    let high = this.lines.length
    while (high - low > 1) {
      const middle = (low + high) >> 1
      if (this.lines[middle]! <= offset) low = middle
      else high = middle
    }
    return { line: low + 1, column: offset - this.lines[low]! + 1 }
  }
}
