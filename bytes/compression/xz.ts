import { createRequire } from 'node:module'
import { crc32 } from 'node:zlib'
import { held, type Clock } from '../../runtime/index.js'
import type { ByteReader } from '../byte-reader.js'
import { LiveImageError } from '../failure.js'

/** lzma-native's native coder, below the package's stream, which cannot tell where an xz stream ends. */
interface Coder {
  streamEncoder(options: object): void
  streamDecoder(options: object): void
  resetUnderlying(): void
  setBufsize(bytes: number): void
  code(input: Uint8Array | null, asynchronous: true): void
  /** Called with output; with null at the end of the xz stream or an error; with a count once input is used up. */
  bufferHandler: (
    output: Buffer | null | undefined,
    processed: number | undefined,
    error: (Error & { name: string }) | null | undefined,
    totalIn: number | null,
  ) => void
}

interface Lzma {
  Stream: new () => Coder
  FILTER_LZMA2: unknown
  MF_BT4: number
  MODE_NORMAL: number
  CHECK_CRC32: number
}

let loaded: Lzma | undefined
/** Loaded when it is needed: most commands never do. */
const lzma = (): Lzma => (loaded ??= createRequire(import.meta.url)('lzma-native') as Lzma)

/** What preset 9 has, the one that coreos-installer compresses with. */
const LARGEST_DICTIONARY = 64 * 1024 * 1024
const SMALLEST_DICTIONARY = 64 * 1024

/**
 * One xz stream with CRC32 as its check, the only one that kernels unpack an initramfs with. Byte for byte what preset 9
 * makes, which coreos-installer uses; but the match finder gets a dictionary no larger than the contents, since one of
 * 64 MiB takes a quarter of a second to set up.
 */
export function xz(bytes: Uint8Array, clock: Clock): Promise<Buffer> {
  const { Stream, FILTER_LZMA2, MF_BT4, MODE_NORMAL, CHECK_CRC32 } = lzma()
  let dictSize = SMALLEST_DICTIONARY
  while (dictSize < bytes.length && dictSize < LARGEST_DICTIONARY) dictSize *= 2
  const options = { dictSize, niceLen: 64, mf: MF_BT4, mode: MODE_NORMAL }
  const coder = new Stream()
  coder.streamEncoder({ filters: [{ id: FILTER_LZMA2, options }], check: CHECK_CRC32 })
  return held(clock, 'compressing xz', () => {
    const parts: Buffer[] = []
    return new Promise<Buffer>((resolve, reject) => {
      coder.bufferHandler = (output, processed, error) => {
        if (error) reject(error)
        else if (output) parts.push(output)
        else if (typeof processed !== 'number') resolve(withDictionary(Buffer.concat(parts)))
      }
      coder.code(bytes, true)
      coder.code(null, true)
    }).finally(() => coder.resetUnderlying())
  })
}

/** Where the first block's header has the size of the dictionary, and its length and checksum. */
const [BLOCK, DICTIONARY, BLOCK_CRC] = [12, 16, 20]
/** 64 MiB in the terms of LZMA2. */
const PRESET_9 = 0x1c

/** Says that the dictionary is that of preset 9: a decoder may always be offered more than it needs. */
function withDictionary(stream: Buffer): Buffer {
  stream[DICTIONARY] = PRESET_9
  stream.writeUInt32LE(crc32(stream.subarray(BLOCK, BLOCK_CRC)), BLOCK_CRC)
  return stream
}

/** coreos-installer's sentence for a stream that ends too early. */
export const XZ_TRUNCATED = 'xz compressed stream is truncated or otherwise corrupt'

/** coreos-installer's words for liblzma's codes; the first is recorded. */
const SENTENCES: Record<string, string> = {
  LZMA_DATA_ERROR: 'lzma data error',
  LZMA_FORMAT_ERROR: 'stream/file format not recognized',
  LZMA_OPTIONS_ERROR: 'invalid/unsupported options',
  LZMA_MEMLIMIT_ERROR: 'memory limit reached',
  LZMA_MEM_ERROR: 'memory allocation failed',
  LZMA_BUF_ERROR: XZ_TRUNCATED,
}

/** And for an error of lzma-native's. */
export const xzSentence = ({ name, message }: Error): string => SENTENCES[name] ?? message

/** Room for the dictionary of any preset, which is 64 MiB; a stream may ask for up to 4 GiB. */
export const XZ_MEMORY_LIMIT = 80 * 1024 * 1024
/**
 * The coder decodes all of what it is given before anything can be taken from it, and zeros are stored at 1 : 7000: a
 * piece of this size becomes 14 MiB at the most, whatever is in it.
 */
const PIECE = 2048

/** The contents of one xz stream; the reader is left at what follows it. */
export async function* unxz(reader: ByteReader, clock: Clock): AsyncGenerator<Uint8Array, void, undefined> {
  const coder = new (lzma().Stream)()
  let output: Uint8Array[] = []
  let [fed, used] = [0, 0]
  let ended = false
  let failed: (Error & { name: string }) | undefined
  let done = () => {}
  coder.streamDecoder({ memlimit: XZ_MEMORY_LIMIT })
  coder.setBufsize(256 * 1024)
  coder.bufferHandler = (part, processed, error, totalIn) => {
    if (totalIn !== null) used = totalIn
    if (typeof processed === 'number') done()
    else if (part) output.push(part)
    else if (error) failed = error
    else ended = true
  }
  try {
    for (;;) {
      const chunk = await reader.next()
      if (!chunk) throw new LiveImageError(XZ_TRUNCATED)
      for (let at = 0; at < chunk.length;) {
        const piece = chunk.subarray(at, at + PIECE)
        at += piece.length
        fed += piece.length
        await held(
          clock,
          'decompressing xz',
          () =>
            new Promise<void>((resolve) => {
              done = resolve
              coder.code(piece, true)
            }),
        )
        if (failed) throw new LiveImageError(xzSentence(failed))
        const ready = output
        output = []
        yield* ready
        if (ended) {
          reader.unread(chunk.subarray(at - (fed - used)))
          return
        }
      }
    }
  } finally {
    coder.resetUnderlying()
  }
}
