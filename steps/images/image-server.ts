import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { held, type Clock, type Random } from '../../runtime/index.js'

/** An image that is checked while it is passed on. */
export interface CheckedStream {
  /** Exactly so many bytes come. */
  size: number
  bytes: AsyncIterable<Uint8Array>
  /** After the last byte; rejects for an image that must not be used. */
  verdict(): Promise<void>
}

export type Served =
  | { kind: 'file'; path: string; digest: string }
  /** Opened anew for every request: it can only be read from its start. */
  | { kind: 'stream'; open: (signal: AbortSignal) => Promise<CheckedStream>; failed: (error: unknown) => void }

/** So much is kept back until the verdict: more than what follows the last block of any compressed image. */
const TAIL = 64 * 1024

/**
 * Serves images on the loopback interface, each below a path that cannot be guessed, since any user of this host could
 * ask for them.
 */
export class ImageServer implements AsyncDisposable {
  readonly #served = new Map<string, Served>()
  readonly #random: Random
  readonly #clock: Clock
  readonly #server = createServer((request, response) => void this.#answer(request, response))

  private constructor({ clock, random }: { clock: Clock; random: Random }) {
    this.#clock = clock
    this.#random = random
  }

  static async open(options: { clock: Clock; random: Random }): Promise<ImageServer> {
    const own = new ImageServer(options)
    await held(
      options.clock,
      'starting an image server',
      () =>
        new Promise<void>((resolve, reject) => {
          own.#server.once('error', reject)
          own.#server.listen(0, '127.0.0.1', resolve)
        }),
    )
    return own
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  /** @param name last part of the path, as it shows in the installer's output */
  serve(served: Served, name: string): { path: string } & Disposable {
    const path = `/${Buffer.from(this.#random.bytes(12)).toString('hex')}/${encodeURIComponent(name)}`
    this.#served.set(path, served)
    return { path, [Symbol.dispose]: () => void this.#served.delete(path) }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await held(this.#clock, 'stopping an image server', () => {
      const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()))
      this.#server.closeAllConnections()
      return closed
    })
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const served = this.#served.get(request.url ?? '')
    if (!served) return void response.writeHead(404).end()
    if (request.method !== 'GET' && request.method !== 'HEAD') return void response.writeHead(405).end()
    const hold = this.#clock.hold('serving an image')
    const gone = new AbortController()
    response.on('close', () => gone.abort(new Error('nobody listens any more')))
    try {
      if (served.kind === 'file') await sendFile(served, request, response)
      else await sendStream(served, request, response, gone.signal)
    } catch (error) {
      if (served.kind === 'stream' && !gone.signal.aborted) served.failed(error)
      // Cut off in the middle: whoever reads it knows that it is not whole.
      if (response.headersSent) response.destroy()
      else response.writeHead(502).end()
    } finally {
      hold[Symbol.dispose]()
    }
  }
}

async function sendFile(
  { path, digest }: Served & { kind: 'file' },
  { method, headers }: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { size } = await stat(path)
  const about = { etag: `"${digest}"`, 'accept-ranges': 'bytes', 'content-type': 'application/octet-stream' }
  const range = headers['if-range'] === undefined || headers['if-range'] === about.etag ? headers.range : undefined
  const part = range === undefined ? { start: 0, end: size - 1 } : partOf(range, size)
  if (part === 'outside') return void response.writeHead(416, { ...about, 'content-range': `bytes */${size}` }).end()
  const { start, end } = part ?? { start: 0, end: size - 1 }
  const partial = part !== null && range !== undefined
  response.writeHead(partial ? 206 : 200, {
    ...{ ...about, 'content-length': end - start + 1 },
    ...(partial ? { 'content-range': `bytes ${start}-${end}/${size}` } : {}),
  })
  if (method === 'HEAD') return void response.end()
  for await (const bytes of createReadStream(path, { start, end, highWaterMark: 256 * 1024 }))
    await write(response, bytes as Buffer)
  response.end()
}

/** One range (RFC 9110, 14.1.2); null for what is passed over, as several are. */
function partOf(range: string, size: number): { start: number; end: number } | 'outside' | null {
  const [, first, last] = /^bytes=(\d*)-(\d*)$/.exec(range) ?? []
  if (first === undefined || last === undefined || (first === '' && last === '')) return null
  const start = first === '' ? Math.max(0, size - Number(last)) : Number(first)
  const end = first === '' || last === '' ? size - 1 : Math.min(size - 1, Number(last))
  return start > end || start >= size ? 'outside' : { start, end }
}

/** All but the tail goes at once; the tail when the image is known to be good. */
async function sendStream(
  { open }: Served & { kind: 'stream' },
  { method }: IncomingMessage,
  response: ServerResponse,
  signal: AbortSignal,
): Promise<void> {
  const { size, bytes, verdict } = await open(signal)
  response.writeHead(200, { 'content-length': size, 'content-type': 'application/octet-stream' })
  if (method === 'HEAD') return void response.end()
  response.flushHeaders()
  let kept: Buffer = Buffer.alloc(0)
  for await (const part of bytes) {
    kept = Buffer.concat([kept, part])
    const free = kept.length - TAIL
    if (free <= 0) continue
    await write(response, kept.subarray(0, free))
    kept = kept.subarray(free)
  }
  await verdict()
  await write(response, kept)
  response.end()
}

async function write(response: ServerResponse, bytes: Uint8Array): Promise<void> {
  if (response.destroyed) throw new Error('nobody listens any more')
  if (response.write(bytes)) return
  await new Promise<void>((resolve) => {
    const go = () => {
      response.off('drain', go)
      response.off('close', go)
      resolve()
    }
    response.once('drain', go)
    response.once('close', go)
  })
}
