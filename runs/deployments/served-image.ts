import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { createServer } from 'node:http'
import { basename } from 'node:path'
import { held, type Clock } from '../../runtime/index.js'

/** A file of this host at an address of this host, for programs that take no file. */
export interface ServedImage extends AsyncDisposable {
  readonly url: string
}

/** Serves one image, and nothing else, on the loopback interface until it is disposed of. */
export async function serveImage(file: string, clock: Clock): Promise<ServedImage> {
  const { size } = await held(clock, `looking at ${file}`, () => stat(file))
  const path = `/${encodeURIComponent(basename(file))}`
  const server = createServer((request, response) => {
    if (request.url !== path) {
      response.writeHead(404).end()
      return
    }
    response.writeHead(200, { 'content-length': size, 'content-type': 'application/octet-stream' })
    if (request.method === 'HEAD') {
      response.end()
      return
    }
    const hold = clock.hold('serving an image')
    const bytes = createReadStream(file)
    bytes.on('error', () => response.destroy())
    response.on('close', () => {
      bytes.destroy()
      hold[Symbol.dispose]()
    })
    bytes.pipe(response)
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', resolve)
  })
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  return {
    url: `http://127.0.0.1:${port}${path}`,
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
