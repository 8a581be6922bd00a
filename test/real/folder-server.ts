import { once } from 'node:events'
import { createReadStream } from 'node:fs'
import { mkdtemp, rm, stat } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join, normalize } from 'node:path'

/** An empty folder behind http on loopback: of images, or where a conductor publishes those that it has downloaded. */
export async function folderServer() {
  const folder = await mkdtemp(join(tmpdir(), 'ironstage-published-'))
  const server = createServer((request, response) => {
    void (async () => {
      // `normalize` of an absolute path does not lead out of it.
      const path = join(folder, normalize(new URL(request.url!, 'http://folder').pathname))
      const found = await stat(path).catch(() => undefined)
      if (!found?.isFile()) return void response.writeHead(404).end()
      // Ironic asks for the size before it takes an image.
      response.writeHead(200, { 'content-length': found.size })
      if (request.method === 'HEAD') response.end()
      else createReadStream(path).pipe(response)
    })()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    folder,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
      await rm(folder, { recursive: true, force: true })
    },
  }
}
