import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createReadStream } from 'node:fs'
import type { Clock } from '../../../base/runtime/index.js'
import { fileStream } from '../../../base/bytes/byte-stream.js'
import { decompress } from '../../../base/bytes/compression/decompress.js'

/** The contents of an image file, as a lab has them read. */
export async function* contentsOf(path: string, clock: Clock): AsyncGenerator<Uint8Array> {
  const source = await fileStream(path, clock)
  try {
    yield* decompress(source, clock)
  } finally {
    await source[Symbol.asyncDispose]()
  }
}

export const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

export async function fileDigest(path: string): Promise<string> {
  const hash = createHash('sha256')
  for await (const part of createReadStream(path)) hash.update(part as Buffer)
  return hash.digest('hex')
}

/** The answer of a file server to one request. */
export type Behaviour = (request: IncomingMessage, response: ServerResponse, bytes: Buffer) => void

/** As a good web server: versions, ranges, 304. */
export const wellBehaved: Behaviour = (request, response, bytes) => {
  const etag = `"${sha256(bytes).slice(0, 16)}"`
  response.setHeader('etag', etag)
  response.setHeader('accept-ranges', 'bytes')
  if (request.headers['if-none-match'] === etag) {
    response.writeHead(304).end()
    return
  }
  const [, start] = /^bytes=(\d+)-$/.exec(request.headers.range ?? '') ?? []
  const fits = request.headers['if-range'] === undefined || request.headers['if-range'] === etag
  if (start === undefined || !fits) {
    response.setHeader('content-length', bytes.length)
    response.end(bytes)
    return
  }
  const from = Number(start)
  if (from >= bytes.length) {
    response.writeHead(416, { 'content-range': `bytes */${bytes.length}` }).end()
    return
  }
  response.writeHead(206, {
    'content-range': `bytes ${from}-${bytes.length - 1}/${bytes.length}`,
    'content-length': bytes.length - from,
  })
  response.end(bytes.subarray(from))
}

/** Files on loopback; each path may behave in a way of its own, again and again or for the first requests only. */
export async function fileServer(files: Record<string, Buffer>) {
  const asked: string[] = []
  const behaviours = new Map<string, Behaviour[]>()
  const server = createServer((request, response) => {
    const path = new URL(request.url!, 'http://x').pathname
    const { range, 'if-none-match': known } = request.headers
    const how = `${range === undefined ? '' : ` ${range}`}${known === undefined ? '' : ' if changed'}`
    asked.push(`${request.method} ${request.url}${how}`)
    const queue = behaviours.get(path)
    const behave = queue && queue.length > 1 ? queue.shift()! : (queue?.[0] ?? wellBehaved)
    const bytes = files[path]
    if (!bytes) response.writeHead(404).end('no')
    else behave(request, response, bytes)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: (path: string) => `http://127.0.0.1:${port}${path}`,
    port,
    files,
    asked,
    /** The last of them stays. */
    behave: (path: string, ...those: Behaviour[]) => void behaviours.set(path, those),
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

export type FileServer = Awaited<ReturnType<typeof fileServer>>

/**
 * Says how long the file is, sends so much of it, and closes the connection once the other side had time to take it: what
 * has not been read by then is lost.
 */
export const cutAfter =
  (length: number): Behaviour =>
  (request, response, bytes) => {
    const socket = request.socket
    const [, start = '0'] = /^bytes=(\d+)-$/.exec(request.headers.range ?? '') ?? []
    const from = Number(start)
    const etag = `"${sha256(bytes).slice(0, 16)}"`
    const headers = { etag, 'content-length': bytes.length - from }
    if (from === 0) response.writeHead(200, headers)
    else response.writeHead(206, { ...headers, 'content-range': `bytes ${from}-${bytes.length - 1}/${bytes.length}` })
    response.write(bytes.subarray(from, from + length), () => setTimeout(() => socket.destroySoon(), 200))
  }

/** Says how long the file is and resets the connection. */
export const resets: Behaviour = (request, response, bytes) => {
  response.writeHead(200, { 'content-length': bytes.length })
  response.flushHeaders()
  setTimeout(() => request.socket.resetAndDestroy(), 20)
}

/** Sends so much and then nothing more, with the connection open. */
export const silentAfter =
  (length: number): Behaviour =>
  (_, response, bytes) => {
    response.writeHead(200, { 'content-length': bytes.length })
    response.write(bytes.subarray(0, length))
  }

/** Says that the file is longer than it is. */
export const tooLong: Behaviour = (_, response, bytes) => {
  response.writeHead(200, { 'content-length': bytes.length + 1000 })
  response.write(bytes, () => setTimeout(() => response.destroy(), 20))
}

/** Says that the file is shorter than it is, and sends that much. */
export const tooShort: Behaviour = (_, response, bytes) => {
  response.writeHead(200, { 'content-length': bytes.length >> 1 })
  response.end(bytes.subarray(0, bytes.length >> 1))
}

/** A page with status 200, as login portals send it. */
export const page: Behaviour = (_, response) => {
  response.writeHead(200, { 'content-type': 'text/html' })
  response.end('<!DOCTYPE html>\n<html><body>Please log in</body></html>')
}

/** Without any way to tell versions apart, and without ranges. */
export const plain: Behaviour = (_, response, bytes) => {
  response.writeHead(200, { 'content-length': bytes.length })
  response.end(bytes)
}

export const status =
  (code: number): Behaviour =>
  (_, response) =>
    void response.writeHead(code).end('no')
