import type { Readable } from 'node:stream'

/** Unread bytes at which the sender is paused. */
const MAX_UNREAD_BYTES = 256 * 1024

/**
 * Queue of one stream of a channel, for one reader. It delivers everything received and then ends, without an error, when
 * the stream or its link ends.
 */
export class ByteQueue implements AsyncIterable<Uint8Array> {
  readonly #source: Readable
  readonly #chunks: Uint8Array[] = []
  #unread = 0
  #ended = false
  #wake = (): void => {}

  constructor(source: Readable) {
    this.#source = source
    source.on('data', (bytes: Buffer) => {
      if (this.#ended) return
      this.#chunks.push(bytes)
      this.#unread += bytes.length
      if (this.#unread > MAX_UNREAD_BYTES) source.pause()
      this.#wake()
    })
    for (const event of ['end', 'close', 'error']) source.on(event, () => this.end())
  }

  /** Accepts no more bytes; those received are still delivered. */
  end(): void {
    this.#ended = true
    this.#wake()
    // Drain the source: a stream that is not read never closes.
    this.#source.resume()
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    for (;;) {
      const bytes = this.#chunks.shift()
      if (bytes) {
        this.#unread -= bytes.length
        if (this.#unread <= MAX_UNREAD_BYTES / 2) this.#source.resume()
        yield bytes
      } else if (this.#ended) return
      else await new Promise<void>((resolve) => (this.#wake = resolve))
    }
  }
}
