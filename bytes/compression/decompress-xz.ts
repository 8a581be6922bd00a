import { createRequire } from 'node:module'
import { XZ_MEMORY_LIMIT, XZ_TRUNCATED, xzSentence } from './xz.js'
import { held, type Clock } from '../../runtime/index.js'
import type { PeekableSource } from '../byte-stream.js'
import { DecodeError, expectEnd } from './decode-error.js'
import { withoutLostTail } from './lost-tail.js'

/** What of lzma-native is used: its native coder, below the package's stream, which joins xz streams together. */
interface NativeCoder {
  streamDecoder(options: object): void
  setBufsize(bytes: number): void
  resetUnderlying(): void
  code(input: Uint8Array, asynchronous: true): void
  /** Called with output; with null at the end of the xz stream or an error; with a count once input is used up. */
  bufferHandler: (
    output: Buffer | null | undefined,
    processed: number | undefined,
    error: (Error & { name: string }) | null | undefined,
    totalIn: number | null,
  ) => void
}

/**
 * The coder decodes all of what it is given before anything can be taken from it, and zeros are stored at 1 : 7000. So
 * it is fed in pieces that are expected to become about this much.
 */
const WANTED_OUTPUT = 4 * 1024 * 1024
const SMALLEST_PIECE = 1024
const LARGEST_PIECE = 16 * 1024
const OUTPUT_BUFFER = 256 * 1024

let makeCoder: (() => NativeCoder) | undefined

function newCoder(): NativeCoder {
  makeCoder ??= (() => {
    const { Stream } = createRequire(import.meta.url)('lzma-native') as { Stream: new () => NativeCoder }
    return () => new Stream()
  })()
  return makeCoder()
}

export const unxz = (input: PeekableSource, clock: Clock): AsyncGenerator<Uint8Array, void, undefined> =>
  withoutLostTail(decodeStream(input, clock))

async function* decodeStream(input: PeekableSource, clock: Clock): AsyncGenerator<Uint8Array, void, undefined> {
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
          return await expectEnd(input, 2)
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
  /** Bytes given, and bytes that belonged to the stream. */
  fed = 0
  used = 0
  /** Whether the stream's end was found. */
  ended = false
  /** Why there is no more: what came before is output all the same. */
  failure: DecodeError | undefined
  #size = SMALLEST_PIECE
  readonly #clock: Clock
  readonly #coder: NativeCoder
  #output: Uint8Array[] = []
  #error: (Error & { name: string }) | undefined
  #done: () => void = () => {}

  constructor(clock: Clock) {
    this.#clock = clock
    this.#coder = newCoder()
    this.#coder.streamDecoder({ memlimit: XZ_MEMORY_LIMIT })
    this.#coder.setBufsize(OUTPUT_BUFFER)
    this.#coder.bufferHandler = (output, processed, error, totalIn) => {
      if (totalIn !== null) this.used = totalIn
      if (typeof processed === 'number') this.#done()
      else if (output) this.#output.push(output)
      else if (error) this.#error = error
      else this.ended = true
    }
  }

  /** Decodes the beginning of `bytes`, telling how much of it. */
  decode(bytes: Uint8Array): Promise<{ output: Uint8Array[]; taken: number }> {
    const piece = bytes.subarray(0, this.#size)
    return held(this.#clock, 'decompressing xz', async () => {
      this.fed += piece.length
      await new Promise<void>((resolve) => {
        this.#done = resolve
        this.#coder.code(piece, true)
      })
      if (this.#error) this.failure = new DecodeError(xzSentence(this.#error), { cause: this.#error })
      const output = this.#output
      this.#output = []
      const ratio = Math.max(1, output.reduce((sum, { length }) => sum + length, 0) / piece.length)
      this.#size = Math.min(LARGEST_PIECE, Math.max(SMALLEST_PIECE, Math.floor(WANTED_OUTPUT / ratio)))
      return { output, taken: piece.length }
    })
  }

  close(): void {
    this.#coder.resetUnderlying()
  }
}
