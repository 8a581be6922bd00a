import { LiveImageError } from './failure.js'

/** Takes bytes from a stream in the amounts that a format has, looking ahead where it must. */
export class ByteReader {
  readonly #source: AsyncIterator<Uint8Array>
  #ahead: Buffer = Buffer.alloc(0)
  #ended = false
  /** Bytes taken so far. */
  position = 0

  constructor(source: AsyncIterable<Uint8Array>) {
    this.#source = source[Symbol.asyncIterator]()
  }

  /** The next bytes, at most `length` of them, without taking them. */
  async peek(length: number): Promise<Uint8Array> {
    await this.#fill(length)
    return this.#ahead.subarray(0, length)
  }

  /** @throws LiveImageError when there are fewer */
  async exactly(length: number): Promise<Uint8Array> {
    await this.#fill(length)
    if (this.#ahead.length < length) throw new LiveImageError('failed to fill whole buffer')
    return this.#take(length)
  }

  /** Passes by `length` bytes, without keeping them. */
  async skip(length: number): Promise<void> {
    for (let left = length; left > 0;) {
      if (!(await this.#fill(1))) throw new LiveImageError('failed to fill whole buffer')
      left -= this.#take(Math.min(left, this.#ahead.length)).length
    }
  }

  /** Passes by zeros; tells whether something is left. */
  async skipZeros(): Promise<boolean> {
    while (await this.#fill(1)) {
      let zeros = 0
      while (this.#ahead[zeros] === 0) zeros++
      this.#take(zeros)
      if (this.#ahead.length > 0) return true
    }
    return false
  }

  /** What is there, a piece at a time. */
  async next(): Promise<Uint8Array | undefined> {
    return (await this.#fill(1)) ? this.#take(this.#ahead.length) : undefined
  }

  /** Gives back the last bytes that were taken. */
  unread(bytes: Uint8Array): void {
    this.#ahead = Buffer.concat([bytes, this.#ahead])
    this.position -= bytes.length
  }

  async close(): Promise<void> {
    await this.#source.return?.()
  }

  #take(length: number): Uint8Array {
    const taken = this.#ahead.subarray(0, length)
    this.#ahead = this.#ahead.subarray(length)
    this.position += length
    return taken
  }

  async #fill(length: number): Promise<boolean> {
    const parts: Uint8Array[] = [this.#ahead]
    let there = this.#ahead.length
    while (there < length && !this.#ended) {
      const { value, done } = await this.#source.next()
      if (done) this.#ended = true
      else {
        parts.push(value)
        there += value.length
      }
    }
    if (parts.length > 1) this.#ahead = Buffer.concat(parts)
    return this.#ahead.length > 0
  }
}
