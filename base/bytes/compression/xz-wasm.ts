import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import type { XzCoder, XzEncoding } from './xz-coder.js'

/** liblzma as WebAssembly, of the package node-liblzma, for computers on which lzma-native does not run. */

const require = createRequire(import.meta.url)
const PROGRAM = 'node-liblzma/wasm/liblzma.wasm'

/** True if the package is installed. */
export function hasWasmLzma(): boolean {
  try {
    require.resolve(PROGRAM)
    return true
  } catch {
    return false
  }
}

/**
 * @param memoryLimit bytes that a stream's dictionary may need
 * @param outputBytes size of the pieces that come out
 */
export const wasmXzDecoder = (memoryLimit: number, outputBytes: number): XzCoder =>
  new WasmXzCoder((lzma, stream) => lzma._lzma_stream_decoder(stream, memoryLimit, 0, 0), outputBytes)

/** Its dictionary is that of the preset, 8 MiB at most: one of 64 MiB takes more memory than WebAssembly gets here. */
export const wasmXzEncoder = ({ quickly }: XzEncoding): XzCoder =>
  new WasmXzCoder((lzma, stream) => lzma._lzma_easy_encoder(stream, quickly ? QUICK_PRESET : PRESET, CHECK_CRC32))

/** Presets of xz: hash chains, and binary trees with an 8 MiB dictionary. */
const QUICK_PRESET = 1
const PRESET = 6
const CHECK_CRC32 = 1

/** Members of the module that a coder uses. Addresses are offsets in its memory, which moves when it grows. */
interface LzmaModule {
  readonly HEAPU8: Uint8Array
  _malloc(bytes: number): number
  /** The limit is an integer of 64 bits, in two halves. */
  _lzma_stream_decoder(stream: number, limitLow: number, limitHigh: number, flags: number): number
  _lzma_easy_encoder(stream: number, preset: number, check: number): number
  _lzma_code(stream: number, action: number): number
}

/** liblzma's `lzma_stream` with pointers of 32 bits: its size, and the offsets of its members. */
const STREAM = { size: 96, nextIn: 0, availIn: 4, totalIn: 8, nextOut: 16, availOut: 20 }
/** Actions of `lzma_code`. */
const RUN = 0
const FINISH = 3
/** Results of `lzma_code` that are no errors. */
const OK = 0
const STREAM_END = 1
/** Nothing could be done: more input is needed, or there is none. */
const BUF_ERROR = 10
/** liblzma's names of its results. */
const RESULTS = [
  'LZMA_OK',
  'LZMA_STREAM_END',
  'LZMA_NO_CHECK',
  'LZMA_UNSUPPORTED_CHECK',
  'LZMA_GET_CHECK',
  'LZMA_MEM_ERROR',
  'LZMA_MEMLIMIT_ERROR',
  'LZMA_FORMAT_ERROR',
  'LZMA_OPTIONS_ERROR',
  'LZMA_DATA_ERROR',
  'LZMA_BUF_ERROR',
  'LZMA_PROG_ERROR',
]

const BUFFER_BYTES = 64 * 1024

let program: Promise<Buffer> | undefined

/** A module of its own for each coder: what a coder took goes with it. V8 compiles the same program once. */
async function newModule(): Promise<LzmaModule> {
  program ??= readFile(require.resolve(PROGRAM))
  const wasmBinary = await program
  const { default: createModule } = require('node-liblzma/wasm/liblzma.js') as LzmaPackage
  return createModule({ wasmBinary })
}

interface LzmaPackage {
  default: (options: { wasmBinary: Buffer }) => Promise<LzmaModule>
}

/** An opened stream in the memory of its module. */
interface OpenXzStream {
  lzma: LzmaModule
  stream: number
  input: number
  output: number
}

class WasmXzCoder implements XzCoder {
  bufferHandler: XzCoder['bufferHandler'] = () => {}
  readonly #begin: (lzma: LzmaModule, stream: number) => number
  readonly #outputBytes: number
  #opened: Promise<OpenXzStream> | undefined
  #calls: Promise<void> = Promise.resolve()
  #ended = false

  constructor(begin: (lzma: LzmaModule, stream: number) => number, outputBytes = BUFFER_BYTES) {
    this.#begin = begin
    this.#outputBytes = outputBytes
  }

  code(input: Uint8Array | null): void {
    this.#calls = this.#calls.then(async () => {
      try {
        const opened = await (this.#opened ??= this.#open())
        this.#codeAll(opened, input)
      } catch (error) {
        this.#ended = true
        this.bufferHandler(null, undefined, error as Error, null)
      }
      this.bufferHandler(undefined, input?.length ?? 0, null, null)
    })
  }

  resetUnderlying(): void {
    this.#opened = undefined
  }

  async #open(): Promise<OpenXzStream> {
    const lzma = await newModule()
    const stream = lzma._malloc(STREAM.size)
    lzma.HEAPU8.fill(0, stream, stream + STREAM.size)
    const opened = { lzma, stream, input: lzma._malloc(BUFFER_BYTES), output: lzma._malloc(this.#outputBytes) }
    check(this.#begin(lzma, stream))
    return opened
  }

  #codeAll(opened: OpenXzStream, input: Uint8Array | null): void {
    if (input === null) return this.#codeBytes(opened, new Uint8Array(0), FINISH)
    for (let at = 0; at < input.length; at += BUFFER_BYTES)
      this.#codeBytes(opened, input.subarray(at, at + BUFFER_BYTES), RUN)
  }

  #codeBytes({ lzma, stream, input, output }: OpenXzStream, bytes: Uint8Array, action: number): void {
    if (this.#ended) return
    lzma.HEAPU8.set(bytes, input)
    let fields = fieldsOf(lzma, stream)
    fields.setUint32(STREAM.nextIn, input, true)
    fields.setUint32(STREAM.availIn, bytes.length, true)
    for (;;) {
      fields.setUint32(STREAM.nextOut, output, true)
      fields.setUint32(STREAM.availOut, this.#outputBytes, true)
      const result = lzma._lzma_code(stream, action)
      fields = fieldsOf(lzma, stream)
      if (result === BUF_ERROR && action === RUN) return
      // As from lzma-native, output of a call that fails is lost.
      if (result !== STREAM_END) check(result)
      const left = fields.getUint32(STREAM.availOut, true)
      const made = this.#outputBytes - left
      if (made > 0) this.bufferHandler(lzma.HEAPU8.slice(output, output + made), undefined, null, null)
      if (result === STREAM_END) {
        this.#ended = true
        this.bufferHandler(null, undefined, null, Number(fields.getBigUint64(STREAM.totalIn, true)))
        return
      }
      if (left > 0 && fields.getUint32(STREAM.availIn, true) === 0) return
    }
  }
}

const fieldsOf = (lzma: LzmaModule, stream: number): DataView =>
  new DataView(lzma.HEAPU8.buffer, lzma.HEAPU8.byteOffset + stream, STREAM.size)

/** @throws an error with liblzma's name of the result */
function check(result: number): void {
  if (result === OK) return
  const name = RESULTS[result] ?? `liblzma's result ${result}`
  throw Object.assign(new Error(name), { name })
}
