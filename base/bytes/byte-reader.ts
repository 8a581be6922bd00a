import type { ByteStream } from './byte-stream.js'
import { FormatError } from './format-error.js'
import { bufferOf } from './zeros.js'

/** The sentence of Rust's standard library when a read ends early. */
const READ_ENDS_EARLY = 'failed to fill whole buffer'

/** A stream whose next bytes can be looked at, taken in exact amounts, and put back. */
export class ByteReader implements ByteStream {
  readonly length: number | undefined
  readonly #source: ByteStream
  #ahead: Uint8Array[] = []
  /** Bytes that the source has given or passed over. */
  #received = 0

  constructor(source: ByteStream) {
    this.#source = source
    this.length = source.length
  }

  /** Number of bytes that were taken or skipped. */
  get position(): number {
    return this.#received - this.#available
  }

  get #available(): number {
    return this.#ahead.reduce((sum, { length }) => sum + length, 0)
  }

  /** At least `length` bytes, unless the stream ends before; they are not taken. */
  async peek(length: number): Promise<Buffer> {
    let available = this.#available
    while (available < length) {
      const bytes = await this.#receive()
      if (!bytes) break
      this.#ahead.push(bytes)
      available += bytes.length
    }
    const all = this.#ahead.length === 1 ? bufferOf(this.#ahead[0]!) : Buffer.concat(this.#ahead)
    this.#ahead = all.length > 0 ? [all] : []
    return all
  }

  /** The next piece, as large as the source has it. */
  async next(): Promise<Uint8Array | undefined> {
    return this.#ahead.shift() ?? (await this.#receive())
  }

  async #receive(): Promise<Uint8Array | undefined> {
    const bytes = await this.#source.next()
    this.#received += bytes?.length ?? 0
    return bytes
  }

  /** Puts bytes back in front. */
  unread(bytes: Uint8Array): void {
    if (bytes.length > 0) this.#ahead.unshift(bytes)
  }

  /** @throws FormatError with `sentence` when there are fewer bytes */
  async exactly(length: number, sentence = READ_ENDS_EARLY): Promise<Buffer> {
    const bytes = await this.peek(length)
    if (bytes.length < length) throw new FormatError(sentence)
    this.#ahead = []
    this.unread(bytes.subarray(length))
    return bytes.subarray(0, length)
  }

  /**
   * Skips `length` bytes without buffering them.
   *
   * @throws FormatError with `sentence` when there are fewer
   */
  async skip(length: number, sentence = READ_ENDS_EARLY): Promise<void> {
    for (let left = length; left > 0;) {
      if (this.#ahead.length === 0 && this.#source.passOver) {
        const skipped = await this.#source.passOver(left)
        this.#received += skipped
        if (skipped < left) throw new FormatError(sentence)
        return
      }
      const bytes = await this.next()
      if (!bytes) throw new FormatError(sentence)
      if (bytes.length > left) this.unread(bytes.subarray(left))
      left -= bytes.length
    }
  }

  /** Skips zeros; returns whether anything follows them. */
  async skipZeros(): Promise<boolean> {
    for (let bytes = await this.next(); bytes; bytes = await this.next()) {
      const start = bytes.findIndex((byte) => byte !== 0)
      if (start < 0) continue
      this.unread(bytes.subarray(start))
      return true
    }
    return false
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#source[Symbol.asyncDispose]()
  }
}
