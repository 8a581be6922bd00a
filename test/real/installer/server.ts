import { once } from 'node:events'
import { createReadStream } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'

/** Stands for the server's address in arguments. */
export const HOST = 'http://HOST'

/** Behaviours that need no file. */
const ANYWAY = new Set(['403', '500', '503', 'hangup', 'reset', 'html', 'empty', 'loop', 'lost'])

/** A server of a folder that behaves as its paths say: `/ok/FILE`, `/404/FILE`, `/flaky/FILE` and so on. */
export async function behavingServer(folder: string) {
  let failures = 0
  const respond: Record<string, (response: ServerResponse, path: string, size: number) => Promise<void> | void> = {
    ok: (response, path, size) => {
      response.writeHead(200, { 'content-length': size })
      createReadStream(path).pipe(response)
    },
    chunked: (response, path) => {
      response.writeHead(200)
      createReadStream(path).pipe(response)
    },
    404: (response) => void response.writeHead(404, 'Nothing Here').end('no'),
    403: (response) => void response.writeHead(403).end('no'),
    500: (response) => void response.writeHead(500).end('no'),
    503: (response) => void response.writeHead(503).end('no'),
    html: (response) => void response.writeHead(200, { 'content-type': 'text/html' }).end('<html>Sign in</html>'),
    empty: (response) => void response.writeHead(200, { 'content-length': 0 }).end(),
    hangup: (response) => void response.socket?.destroy(),
    reset: (response) => void response.socket?.resetAndDestroy(),
    flaky: (response, path, size) =>
      failures++ < 2 ? respond['503']!(response, path, size) : respond['ok']!(response, path, size),
    'hangup-once': (response, path, size) =>
      failures++ < 1 ? void response.socket?.destroy() : respond['ok']!(response, path, size),
    // Half of it, then the connection ends.
    short: async (response, path, size) => {
      response.writeHead(200, { 'content-length': size })
      const bytes = await readFile(path)
      response.write(bytes.subarray(0, size >> 1), () => setTimeout(() => response.destroy(), 50))
    },
    'short-chunked': async (response, path, size) => {
      response.writeHead(200)
      const bytes = await readFile(path)
      response.write(bytes.subarray(0, size >> 1), () => setTimeout(() => response.destroy(), 50))
    },
    'short-reset': async (response, path, size) => {
      response.writeHead(200, { 'content-length': size })
      const bytes = await readFile(path)
      response.write(bytes.subarray(0, size >> 1), () => setTimeout(() => response.socket?.resetAndDestroy(), 50))
    },
    // A whole file that claims to be longer, or shorter.
    'claims-more': async (response, path, size) => {
      response.writeHead(200, { 'content-length': size + 1000 })
      response.write(await readFile(path), () => setTimeout(() => response.destroy(), 50))
    },
    'claims-less': async (response, path, size) => {
      response.socket!.end(
        Buffer.concat([
          Buffer.from(`HTTP/1.1 200 OK\r\nContent-Length: ${size - 100}\r\nConnection: close\r\n\r\n`),
          await readFile(path),
        ]),
      )
    },
    redirect: (response, path) =>
      void response.writeHead(302, { location: `/ok/${path.slice(path.lastIndexOf('/') + 1)}` }).end(),
    loop: (response, path) =>
      void response.writeHead(302, { location: `/loop/${path.slice(path.lastIndexOf('/') + 1)}` }).end(),
    lost: (response) => void response.writeHead(302, { location: '/404/x' }).end(),
  }
  const server = createServer((request, response) => {
    void (async () => {
      const [, behaviour = '', file = ''] = new URL(request.url!, HOST).pathname.split('/')
      const path = join(folder, file)
      const found = await stat(path).catch(() => undefined)
      const answer = found?.isFile() || ANYWAY.has(behaviour) ? respond[behaviour] : undefined
      await (answer ?? respond['404']!)(response, path, found?.size ?? 0)
    })()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    reset: () => void (failures = 0),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
