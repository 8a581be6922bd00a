import { crc32, createInflateRaw, type InflateRaw } from 'node:zlib'
import { withClockHeld, type Clock } from '../../runtime/index.js'
import type { ByteReader } from '../byte-reader.js'
import { DecodeError } from './decode-error.js'

/** Flags of RFC 1952, 2.3.1. */
const FHCRC = 2
const FEXTRA = 4
const FNAME = 8
const FCOMMENT = 16
const TRAILER = 8
const DEFLATE = 8
const RESERVED = 0xe0
/** Bytes of a name or a comment, as in flate2 1.1.10 gz/mod.rs read_to_nul. */
const MAX_GZIP_FIELD_BYTES = 64 * 1024
const OUTPUT_BUFFER = 256 * 1024

/**
 * The contents of one gzip member; the reader is left at the byte after it. Node's own gunzip does not serve: it
 * continues with the next member, and ignores other bytes after the last.
 */
export async function* gunzipMember(input: ByteReader, clock: Clock): AsyncGenerator<Uint8Array, void, undefined> {
  await skipHeader(input)
  const inflater = new Inflater(createInflateRaw({ chunkSize: OUTPUT_BUFFER }), clock)
  let crc = 0
  let length = 0
  try {
    let after: Uint8Array | undefined
    while (after === undefined) {
      const chunk = await input.next()
      if (!chunk) throw new DecodeError('incomplete deflate stream')
      for await (const output of inflater.inflate(chunk)) {
        crc = crc32(output, crc)
        length += output.length
        yield output
      }
      after = inflater.after
    }
    input.unread(after)
  } finally {
    inflater.close()
  }
  const trailer = await input.peek(TRAILER)
  if (trailer.length < TRAILER) throw new DecodeError('unexpected end of file')
  if (trailer.readUInt32LE(0) !== crc || trailer.readUInt32LE(4) !== length % 2 ** 32)
    throw new DecodeError('corrupt gzip stream does not have a matching checksum')
  await input.exactly(TRAILER)
}

async function skipHeader(input: ByteReader): Promise<void> {
  const need = async (length: number): Promise<Buffer> => {
    const bytes = await input.peek(length)
    if (bytes.length < length) throw new DecodeError('unexpected end of file')
    return bytes
  }
  const fixed = await need(10)
  const flags = fixed[3]!
  if (fixed[2] !== DEFLATE || (flags & RESERVED) !== 0) throw new DecodeError('invalid gzip header')
  let at = 10
  if (flags & FEXTRA) at += 2 + (await need(at + 2)).readUInt16LE(at)
  for (const field of [FNAME, FCOMMENT]) {
    if (!(flags & field)) continue
    let end = -1
    for (let have = at + 256; end < 0; have += 256) {
      const bytes = await input.peek(have)
      end = bytes.indexOf(0, at)
      if (end < 0 && (bytes.length < have || have > at + MAX_GZIP_FIELD_BYTES))
        throw new DecodeError('invalid gzip header')
    }
    at = end + 1
  }
  if (flags & FHCRC) at += 2
  await need(at)
  await input.exactly(at)
}

/** A raw inflater that reports where its input ended. */
class Inflater {
  /** Input after the end of the stream; undefined until the end is found. */
  after: Uint8Array | undefined
  readonly #stream: InflateRaw
  readonly #clock: Clock
  #fed = 0
  #ended = false
  #error: Error | undefined
  #wake: () => void = () => {}

  constructor(stream: InflateRaw, clock: Clock) {
    this.#stream = stream
    this.#clock = clock
    stream.on('readable', () => this.#wake())
    stream.on('end', () => {
      this.#ended = true
      this.#wake()
    })
    stream.on('error', (error) => {
      this.#error = error
      this.#wake()
    })
  }

  async *inflate(chunk: Uint8Array): AsyncGenerator<Buffer, void, undefined> {
    this.#fed += chunk.length
    let taken = false
    this.#stream.write(chunk, () => {
      taken = true
      this.#wake()
    })
    for (;;) {
      const output = await withClockHeld(this.#clock, 'decompressing gzip', () => this.#next(() => taken))
      if (!output) break
      yield output
    }
    if (this.#error) throw new DecodeError('corrupt deflate stream', { cause: this.#error })
    const left = this.#fed - this.#stream.bytesWritten
    if (left > 0) this.after = chunk.subarray(chunk.length - left)
  }

  async #next(taken: () => boolean): Promise<Buffer | undefined> {
    for (;;) {
      const output = this.#stream.read() as Buffer | null
      if (output) return output
      if (this.#error || this.#ended || taken()) return undefined
      await new Promise<void>((resolve) => (this.#wake = resolve))
    }
  }

  close(): void {
    this.#stream.destroy()
  }
}
