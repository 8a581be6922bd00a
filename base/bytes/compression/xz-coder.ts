import { createRequire } from 'node:module'
import { loadPackage } from '../../runtime/index.js'

/** The native coder of lzma-native, below the package's stream, which joins xz streams together. */
export interface XzCoder {
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
  Stream: new () => XzCoder
  FILTER_LZMA2: unknown
  MF_BT4: number
  MF_HC4: number
  MODE_NORMAL: number
  MODE_FAST: number
  CHECK_CRC32: number
}

const require = createRequire(import.meta.url)
let loaded: Lzma | undefined
/** Loaded on first use: most commands never need it. */
export const loadLzma = (): Lzma => (loaded ??= loadPackage('lzma-native', () => require('lzma-native') as Lzma))

export const newXzCoder = (): XzCoder => new (loadLzma().Stream)()

/** coreos-installer's sentence for a stream that ends too early. */
export const XZ_TRUNCATED = 'xz compressed stream is truncated or otherwise corrupt'

/** Sentences of coreos-installer for liblzma's codes; the first is recorded. */
const SENTENCES: Record<string, string> = {
  LZMA_DATA_ERROR: 'lzma data error',
  LZMA_FORMAT_ERROR: 'stream/file format not recognized',
  LZMA_OPTIONS_ERROR: 'invalid/unsupported options',
  LZMA_MEMLIMIT_ERROR: 'memory limit reached',
  LZMA_MEM_ERROR: 'memory allocation failed',
  LZMA_BUF_ERROR: XZ_TRUNCATED,
}

/** The sentence for an error of lzma-native. */
export const xzSentence = ({ name, message }: Error): string => SENTENCES[name] ?? message

/** Room for the dictionary of any preset, which is 64 MiB at most; a stream may ask for up to 4 GiB. */
export const MAX_XZ_MEMORY = 80 * 1024 * 1024
