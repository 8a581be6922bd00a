import type { Readable } from 'node:stream'

/** So much may wait for its reader before the sender is held back, in bytes. */
const ENOUGH = 256 * 1024

/**
 * What one of a channel's streams says, for one reader: ends, never fails, where the stream or its link ends, after
 * everything that had come.
 */
export class ByteQueue implements AsyncIterable<Uint8Array> {
  readonly #source: Readable
  readonly #chunks: Uint8Array[] = []
  #held = 0
  #ended = false
  #wake = (): void => {}

  constructor(source: Readable) {
    this.#source = source
    source.on('data', (bytes: Buffer) => {
      if (this.#ended) return
      this.#chunks.push(bytes)
      this.#held += bytes.length
      if (this.#held > ENOUGH) source.pause()
      this.#wake()
    })
    for (const event of ['end', 'close', 'error']) source.on(event, () => this.end())
  }

  /** Nothing more is taken; what has come is still handed out. */
  end(): void {
    this.#ended = true
    this.#wake()
    // Nobody would read it, and a stream that is not read never closes.
    this.#source.resume()
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    for (;;) {
      const bytes = this.#chunks.shift()
      if (bytes) {
        this.#held -= bytes.length
        if (this.#held <= ENOUGH / 2) this.#source.resume()
        yield bytes
      } else if (this.#ended) return
      else await new Promise<void>((resolve) => (this.#wake = resolve))
    }
  }
}
