import zlib from 'node:zlib'
import { importPackage } from '../../runtime/index.js'

/** Functions of the library, which is loaded when it is first needed. */
export interface Zstd {
  /** Makes one whole frame. */
  compress(bytes: Uint8Array): Uint8Array
  /**
   * Decompresses one whole frame: by Node, from 22.15 on, three times as fast as by WebAssembly.
   *
   * @param length bytes of its contents as its header says; it fails when there are more
   */
  decompress(frame: Uint8Array, length: number): Uint8Array
}

/** Function of Node, from 22.15 on. Without a limit, a few kilobytes that say they are small become gigabytes. */
type OfNode = (frame: Uint8Array, options: { maxOutputLength: number }) => Uint8Array

/** Where time and size part: half the speed brings a twentieth. */
const LEVEL = 3

let loaded: Promise<Zstd> | undefined

export function loadZstd(): Promise<Zstd> {
  loaded ??= (async () => {
    const { compress, decompress, init } = await importPackage('@bokuweb/zstd-wasm', () => import('@bokuweb/zstd-wasm'))
    await init()
    const ofNode = (zlib as { zstdDecompressSync?: OfNode }).zstdDecompressSync
    return {
      compress: (bytes) => compress(bytes, LEVEL),
      decompress: (frame, length) => ofNode?.(frame, { maxOutputLength: length }) ?? decompress(frame),
    }
  })()
  return loaded
}
