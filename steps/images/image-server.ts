import { fileRepresentation, type FoundFile, serveFiles, type StreamedRepresentation } from '../../base/bytes/index.js'
import type { Clock, Logger, Random } from '../../base/runtime/index.js'

/** An image that is checked while it streams. */
export interface CheckedStream {
  /** Bytes of the whole image. */
  size: number
  bytes: AsyncIterable<Uint8Array>
  /** Settles after the last byte; rejects for an image that must not be used. */
  verdict(): Promise<void>
}

export type ServedContent =
  | { kind: 'file'; path: string; digest: string }
  /** Opened for each request, since it can only be read from its start. */
  | { kind: 'stream'; open: (signal: AbortSignal) => Promise<CheckedStream>; failed: (error: unknown) => void }

/** Bytes that are withheld until the verdict: more than any compressed format has after its last block. */
const TAIL = 64 * 1024

export interface ImageServer extends AsyncDisposable {
  readonly port: number
  /** @param name last part of the path, as it shows in the installer's output */
  serve(served: ServedContent, name: string): { path: string } & Disposable
}

/**
 * Serves images on the loopback interface, each at a path that cannot be guessed, since any user of this host can send
 * requests.
 */
export async function openImageServer(options: { clock: Clock; random: Random; logger: Logger }): Promise<ImageServer> {
  const { clock, random } = options
  const images = new Map<string, ServedContent>()
  const find = (path: string): Promise<FoundFile> | FoundFile => {
    const image = images.get(path)
    if (!image) return undefined
    return image.kind === 'file' ? fileRepresentation(image.path, clock, `"${image.digest}"`) : withheld(image)
  }
  const server = await serveFiles({ ...options, host: '127.0.0.1', port: 0, find })
  return {
    port: server.port,
    serve: (served, name) => {
      const path = `/${Buffer.from(random.bytes(12)).toString('hex')}/${encodeURIComponent(name)}`
      images.set(path, served)
      return { path, [Symbol.dispose]: () => void images.delete(path) }
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  }
}

function withheld({ open, failed }: ServedContent & { kind: 'stream' }): StreamedRepresentation {
  return {
    failed,
    open: async (signal) => {
      const image = await open(signal)
      return { size: image.size, bytes: untilVerdict(image) }
    },
  }
}

/** Yields all bytes but the tail as they come, and the tail after a good verdict. */
async function* untilVerdict({ bytes, verdict }: CheckedStream): AsyncGenerator<Uint8Array, void, undefined> {
  let tail: Buffer = Buffer.alloc(0)
  for await (const part of bytes) {
    tail = Buffer.concat([tail, part])
    const free = tail.length - TAIL
    if (free <= 0) continue
    yield tail.subarray(0, free)
    tail = tail.subarray(free)
  }
  await verdict()
  if (tail.length > 0) yield tail
}
