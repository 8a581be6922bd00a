import { createRequire } from 'node:module'
import { loadPackage } from '../../runtime/index.js'
import { hasWasmLzma, wasmXzDecoder, wasmXzEncoder } from './xz-wasm.js'

/** A coder of one xz stream. */
export interface XzCoder {
  /** Takes more bytes; null says that there are no more. A call may follow before the earlier one is done. */
  code(input: Uint8Array | null, asynchronous: true): void
  /** Called with output; with null at the end of the xz stream or an error; with a count once input is used up. */
  bufferHandler: (
    output: Uint8Array | null | undefined,
    processed: number | undefined,
    error: (Error & { name: string }) | null | undefined,
    totalIn: number | null,
  ) => void
  /** Frees its memory. */
  resetUnderlying(): void
}

/** Form of the streams that an encoder writes. */
export interface XzEncoding {
  /** Bytes that the match finder looks back, a power of two. */
  dictionary: number
  /** In a third of the time, into a few percent more. */
  quickly: boolean
}

/** The native coder of lzma-native, below the package's stream, which joins xz streams together. */
interface NativeCoder extends XzCoder {
  streamEncoder(options: object): void
  streamDecoder(options: object): void
  setBufsize(bytes: number): void
}

interface Lzma {
  Stream: new () => NativeCoder
  FILTER_LZMA2: unknown
  MF_BT4: number
  MF_HC4: number
  MODE_NORMAL: number
  MODE_FAST: number
  CHECK_CRC32: number
}

const require = createRequire(import.meta.url)
let loaded: Lzma | null | undefined

/**
 * lzma-native, loaded on first use: most commands never need it. Null where it does not run and liblzma is there as
 * WebAssembly: its 8.0.6 has a program for x86 in the place of that for Linux on ARM, and none for musl.
 *
 * @throws UserError (missing-package) when there is neither
 */
function loadNative(): Lzma | null {
  if (loaded !== undefined) return loaded
  try {
    loaded = loadPackage('lzma-native', () => require('lzma-native') as Lzma)
  } catch (error) {
    if (!hasWasmLzma()) throw error
    loaded = null
  }
  return loaded
}

/** @param outputBytes size of the pieces that come out */
export function newXzDecoder(outputBytes: number): XzCoder {
  const lzma = loadNative()
  if (!lzma) return wasmXzDecoder(MAX_XZ_MEMORY, outputBytes)
  const coder = new lzma.Stream()
  coder.streamDecoder({ memlimit: MAX_XZ_MEMORY })
  coder.setBufsize(outputBytes)
  return coder
}

/** The streams have CRC32 as their check, the only one with which kernels unpack an initramfs. */
export function newXzEncoder(encoding: XzEncoding): XzCoder {
  const lzma = loadNative()
  if (!lzma) return wasmXzEncoder(encoding)
  const options = {
    dictSize: encoding.dictionary,
    niceLen: 64,
    mf: encoding.quickly ? lzma.MF_HC4 : lzma.MF_BT4,
    mode: encoding.quickly ? lzma.MODE_FAST : lzma.MODE_NORMAL,
  }
  const coder = new lzma.Stream()
  coder.streamEncoder({ filters: [{ id: lzma.FILTER_LZMA2, options }], check: lzma.CHECK_CRC32 })
  return coder
}

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
  LZMA_PROG_ERROR: 'programming error',
}

/** The sentence for an error of liblzma; undefined for another, which says nothing about the stream. */
export const xzSentence = ({ name }: Error): string | undefined => SENTENCES[name]

/** Room for the dictionary of any preset, which is 64 MiB at most; a stream may ask for up to 4 GiB. */
export const MAX_XZ_MEMORY = 80 * 1024 * 1024
