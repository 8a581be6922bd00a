import { newXzDecoder, XZ_TRUNCATED, xzSentence, type XzCoder } from './xz-coder.js'
import { withClockHeld, type Clock } from '../../runtime/index.js'
import type { ByteReader } from '../byte-reader.js'
import { DecodeError } from './decode-error.js'
import { withoutLostTail } from './lost-tail.js'

/**
 * The coder decodes a whole piece before its output can be taken, and stores zeros at 1 : 7000: a piece of this size
 * becomes 14 MiB at most.
 */
const XZ_PIECE_BYTES = 2048
/** The coder makes and clears one for every piece: a large one costs more than the copies of several small ones. */
const OUTPUT_BUFFER = 64 * 1024

/** The contents of one xz stream; the reader is left at the byte after it. */
export const decompressXz = (input: ByteReader, clock: Clock): AsyncGenerator<Uint8Array, void, undefined> =>
  withoutLostTail(decodeStream(input, clock))

async function* decodeStream(input: ByteReader, clock: Clock): AsyncGenerator<Uint8Array, void, undefined> {
  const decoder = new XzDecoder(clock)
  try {
    for (;;) {
      const chunk = await input.next()
      if (!chunk) throw new DecodeError(XZ_TRUNCATED)
      for (let at = 0; at < chunk.length;) {
        const { output, taken } = await decoder.decode(chunk.subarray(at))
        at += taken
        yield* output
        if (decoder.failure) throw decoder.failure
        if (decoder.ended) {
          input.unread(chunk.subarray(at - (decoder.fed - decoder.used)))
          return
        }
      }
    }
  } finally {
    decoder.close()
  }
}

/**
 * The decompressed bytes of one block of an xz stream, for decompressing several at once.
 *
 * @param header the stream's header
 * @param input the block's bytes and nothing else
 */
export const unxzBlock = (
  header: Uint8Array,
  input: AsyncIterable<Uint8Array>,
  outputLength: number,
  clock: Clock,
): AsyncGenerator<Uint8Array, void, undefined> => withoutLostTail(decodeBlock(header, input, outputLength, clock))

async function* decodeBlock(
  header: Uint8Array,
  input: AsyncIterable<Uint8Array>,
  outputLength: number,
  clock: Clock,
): AsyncGenerator<Uint8Array, void, undefined> {
  const decoder = new XzDecoder(clock)
  try {
    await decoder.decode(header)
    let length = 0
    for await (const chunk of input)
      for (let at = 0; at < chunk.length;) {
        const { output, taken } = await decoder.decode(chunk.subarray(at))
        at += taken
        for (const part of output) length += part.length
        yield* output
        if (decoder.failure) throw decoder.failure
      }
    if (length !== outputLength) throw new DecodeError(XZ_TRUNCATED)
  } finally {
    decoder.close()
  }
}

class XzDecoder {
  /** Bytes that were passed in, and those of them that belonged to the stream. */
  fed = 0
  used = 0
  /** True if the stream's end was found. */
  ended = false
  /** The failure that ended decoding; the output before it is valid. */
  failure: DecodeError | undefined
  readonly #clock: Clock
  readonly #coder: XzCoder
  #output: Uint8Array[] = []
  #error: (Error & { name: string }) | undefined
  #done: () => void = () => {}

  constructor(clock: Clock) {
    this.#clock = clock
    this.#coder = newXzDecoder(OUTPUT_BUFFER)
    this.#coder.bufferHandler = (output, processed, error, totalIn) => {
      if (totalIn !== null) this.used = totalIn
      if (typeof processed === 'number') this.#done()
      else if (output) this.#output.push(output)
      else if (error) this.#error = error
      else this.ended = true
    }
  }

  /** Decodes the beginning of `bytes`; `taken` is how much of it. */
  decode(bytes: Uint8Array): Promise<{ output: Uint8Array[]; taken: number }> {
    const piece = bytes.subarray(0, XZ_PIECE_BYTES)
    return withClockHeld(this.#clock, 'decompressing xz', async () => {
      this.fed += piece.length
      await new Promise<void>((resolve) => {
        this.#done = resolve
        this.#coder.code(piece, true)
      })
      if (this.#error) {
        const sentence = xzSentence(this.#error)
        if (sentence === undefined) throw this.#error
        this.failure = new DecodeError(sentence, { cause: this.#error })
      }
      const output = this.#output
      this.#output = []
      return { output, taken: piece.length }
    })
  }

  close(): void {
    this.#coder.resetUnderlying()
  }
}
