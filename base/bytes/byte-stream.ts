import { open } from 'node:fs/promises'
import { withWorkStopped, type Clock } from '../runtime/index.js'

/** Bytes that are read once, from first to last. */
export interface ByteStream extends AsyncDisposable {
  /** Number of bytes in all; undefined when the source did not report it. */
  readonly length: number | undefined
  /** The next bytes; undefined at the end, however often it is called. */
  next(): Promise<Uint8Array | undefined>
  /** Passes over bytes without reading them, where that is possible; returns how many there were. */
  passOver?(length: number): Promise<number>
}

/** Bytes of one read: coreos-installer 0.27.0 reads as many (measured), so progress lines come at the same positions. */
export const READ_BYTES = 256 * 1024

/** Opens a file of this host as a stream. */
export async function fileStream(path: string, clock: Clock): Promise<ByteStream> {
  const { handle, length } = await withWorkStopped(clock, `opening ${path}`, async () => {
    const handle = await open(path, 'r')
    return { handle, length: (await handle.stat()).size }
  })
  return {
    length,
    next: () =>
      withWorkStopped(clock, `reading ${path}`, async () => {
        const buffer = Buffer.allocUnsafe(READ_BYTES)
        const { bytesRead } = await handle.read(buffer, 0, READ_BYTES, null)
        return bytesRead === 0 ? undefined : buffer.subarray(0, bytesRead)
      }),
    [Symbol.asyncDispose]: () => withWorkStopped(clock, `closing ${path}`, () => handle.close()),
  }
}

/** Bytes in memory, in pieces of `size`. */
export function memoryStream(bytes: Uint8Array, size = READ_BYTES): ByteStream {
  let at = 0
  return {
    length: bytes.length,
    next: () => {
      const piece = bytes.subarray(at, at + size)
      at += piece.length
      return Promise.resolve(piece.length === 0 ? undefined : piece)
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  }
}

/** Calls `seen` with the position after every read, also after reads at the end. */
export function countReads(
  source: ByteStream,
  seen: (position: number, bytes: Uint8Array | undefined) => void,
): ByteStream {
  let position = 0
  return {
    length: source.length,
    next: async () => {
      const bytes = await source.next()
      position += bytes?.length ?? 0
      seen(position, bytes)
      return bytes
    },
    [Symbol.asyncDispose]: async () => source[Symbol.asyncDispose](),
  }
}

/** A generator as a stream; its length is unknown. */
export function streamFrom(pieces: AsyncIterable<Uint8Array>): ByteStream {
  const iterator = pieces[Symbol.asyncIterator]()
  return {
    length: undefined,
    next: async () => {
      const { value, done } = await iterator.next()
      return done ? undefined : value
    },
    [Symbol.asyncDispose]: async () => void (await iterator.return?.()),
  }
}
