import lzma from 'lzma-native'
import { beforeAll, describe, expect, test } from 'vitest'
import { seededRandom, systemClock } from '../../runtime/index.js'
import { memoryStream } from '../byte-stream.js'
import { decompress } from './decompress.js'
import { MAX_XZ_MEMORY, newXzDecoder, newXzEncoder, type XzCoder } from './xz-coder.js'
import { wasmXzDecoder, wasmXzEncoder } from './xz-wasm.js'

/** liblzma as WebAssembly does what lzma-native does, which runs on the computers that have it. */

const plain = Buffer.concat([
  Buffer.alloc(300_000),
  Buffer.from(seededRandom(1).bytes(200_000)),
  Buffer.alloc(1_000_000, 'CoreOS '),
])
const OUTPUT_BYTES = 64 * 1024

const compress = (bytes: Buffer, options: lzma.LzmaOptions): Promise<Buffer> =>
  new Promise((resolve) => lzma.compress(bytes, options, resolve))

let packed: Buffer
beforeAll(async () => {
  packed = await compress(plain, { preset: 1 })
})

interface CoderRun {
  output: Buffer
  error: string | null
  /** Bytes of the input that the stream has; null when its end was not found. */
  used: number | null
}

/** Has a coder take pieces of an input, each when the one before it is done. */
async function runCoder(coder: XzCoder, input: Uint8Array, pieceBytes: number, end = false): Promise<CoderRun> {
  const parts: Uint8Array[] = []
  const found: Omit<CoderRun, 'output'> = { error: null, used: null }
  let done = () => {}
  coder.bufferHandler = (output, processed, error, totalIn) => {
    if (typeof processed === 'number') done()
    else if (output) parts.push(Buffer.from(output))
    else if (error) found.error ??= error.name
    else found.used = totalIn
  }
  const code = (piece: Uint8Array | null) =>
    new Promise<void>((resolve) => {
      done = resolve
      coder.code(piece, true)
    })
  for (let at = 0; at < input.length && found.error === null && found.used === null; at += pieceBytes)
    await code(input.subarray(at, at + pieceBytes))
  if (end) await code(null)
  coder.resetUnderlying()
  return { output: Buffer.concat(parts), ...found }
}

const damaged = (at: number): Buffer => {
  const bytes = Buffer.from(packed)
  bytes[at]! ^= 0xff
  return bytes
}

describe('decompresses as lzma-native does', () => {
  test.each<[string, () => Buffer | Promise<Buffer>]>([
    ['a stream', () => packed],
    ['a stream with bytes after it', () => Buffer.concat([packed, Buffer.from('trailing')])],
    ['two streams', () => Buffer.concat([packed, packed])],
    ['a stream that is cut off', () => packed.subarray(0, packed.length >> 1)],
    ['a stream with a damaged header', () => damaged(2)],
    ['a stream with a damaged header of a block', () => damaged(14)],
    ['a stream with damaged contents', () => damaged(packed.length >> 1)],
    ['a stream with a damaged index', () => damaged(packed.length - 20)],
    ['bytes that are no stream', () => Buffer.alloc(5000, 'no xz ')],
    ['a dictionary of 64 MiB', () => compress(plain, { preset: 9 })],
    ['a stream without contents', () => compress(Buffer.alloc(0), { preset: 0 })],
  ])('%s', async (_, make) => {
    const input = await make()
    for (const pieceBytes of [1000, 2048, 200_000]) {
      const native = await runCoder(newXzDecoder(OUTPUT_BYTES), input, pieceBytes)
      const wasm = await runCoder(wasmXzDecoder(MAX_XZ_MEMORY, OUTPUT_BYTES), input, pieceBytes)
      expect(wasm.error).toBe(native.error)
      expect(wasm.used).toBe(native.used)
      expect(wasm.output.length).toBe(native.output.length)
      expect(wasm.output.equals(native.output)).toBe(true)
    }
  })

  test('a stream that needs more memory than it may have', async () => {
    const run = await runCoder(wasmXzDecoder(1024 * 1024, OUTPUT_BYTES), await compress(plain, { preset: 9 }), 2048)
    expect(run).toMatchObject({ error: 'LZMA_MEMLIMIT_ERROR', used: null })
  })
})

describe('compresses into a stream with CRC32', () => {
  test.each([false, true])('quickly: %s', async (quickly) => {
    const encoding = { dictionary: 2 ** 21, quickly }
    const wasm = await runCoder(wasmXzEncoder(encoding), plain, plain.length, true)
    const native = await runCoder(newXzEncoder(encoding), plain, plain.length, true)
    expect(wasm.error).toBeNull()
    expect(wasm.output.subarray(0, 8)).toEqual(native.output.subarray(0, 8))
    expect(wasm.output.length).toBeLessThan(native.output.length * 1.05)
    const parts: Uint8Array[] = []
    for await (const part of decompress(memoryStream(wasm.output), systemClock())) parts.push(part)
    expect(Buffer.concat(parts).equals(plain)).toBe(true)
  })
})
