import { open } from 'node:fs/promises'
import { held, type Clock } from '../runtime/index.js'
import { bufferOf } from './zeros.js'

/** Bytes of an image as they are stored or sent, compressed or not. */
export interface ByteStream extends AsyncDisposable {
  /** How many there are in all; undefined when nobody said. */
  readonly length: number | undefined
  /** The next bytes; undefined at the end, as often as it is asked. */
  next(): Promise<Uint8Array | undefined>
}

/** What coreos-installer reads of a file at once (seen), so that its progress lines come at the same bytes. */
export const READ = 256 * 1024

/** A file of this host, read from its start. */
export async function fileSource(path: string, clock: Clock): Promise<ByteStream> {
  const { handle, length } = await held(clock, `opening ${path}`, async () => {
    const handle = await open(path, 'r')
    return { handle, length: (await handle.stat()).size }
  })
  return {
    length,
    next: () =>
      held(clock, `reading ${path}`, async () => {
        const buffer = Buffer.allocUnsafe(READ)
        const { bytesRead } = await handle.read(buffer, 0, READ, null)
        return bytesRead === 0 ? undefined : buffer.subarray(0, bytesRead)
      }),
    [Symbol.asyncDispose]: () => held(clock, `closing ${path}`, () => handle.close()),
  }
}

/** Bytes in memory, in pieces of `size`. */
export function memorySource(bytes: Uint8Array, size = READ): ByteStream {
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

/** Calls `seen` with the position after every read, also after the ones that find the end. */
export function counted(
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

/** A source whose first bytes can be looked at without taking them. */
export class PeekableSource implements ByteStream {
  readonly length: number | undefined
  #ahead: Uint8Array[] = []

  constructor(readonly source: ByteStream) {
    this.length = source.length
  }

  /** At least `length` bytes, unless the source ends before. */
  async peek(length: number): Promise<Buffer> {
    let have = this.#ahead.reduce((sum, { length }) => sum + length, 0)
    while (have < length) {
      const bytes = await this.source.next()
      if (!bytes) break
      this.#ahead.push(bytes)
      have += bytes.length
    }
    const all = this.#ahead.length === 1 ? bufferOf(this.#ahead[0]!) : Buffer.concat(this.#ahead)
    this.#ahead = all.length > 0 ? [all] : []
    return all
  }

  /** Puts bytes back in front. */
  unread(bytes: Uint8Array): void {
    if (bytes.length > 0) this.#ahead.unshift(bytes)
  }

  async next(): Promise<Uint8Array | undefined> {
    return this.#ahead.shift() ?? (await this.source.next())
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.source[Symbol.asyncDispose]()
  }
}
