import type { ErrorRequestHandler } from 'express'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join, normalize } from 'node:path'
import { held, UserError, type Clock } from '../../runtime/index.js'
import { documentText } from './document.js'
import { relocated } from './mirror.js'
import { STREAM } from './stream.js'

export interface StreamServerOptions {
  /**
   * - `streams/NAME.json` or `NAME.json`: stream metadata, served as `/streams/NAME.json`
   * - `dependencies/rhcos/stream-X.Y.json` or `stream-X.Y.json`, also with a date: served as
   *   `/dependencies/rhcos/stream-X.Y.json`
   * - everything else: files, by the path that they have where they come from
   */
  folder: string
  host?: string
  /** 0 picks a free one. */
  port?: number
  clock: Clock
  onRequest?: (request: { method: string; path: string; status: number }) => void
}

export interface StreamServer extends AsyncDisposable {
  /** Without a slash at its end. */
  readonly url: string
}

/**
 * Serves stream metadata and the files of it, with ranges. Files that are here are told at this place, so a stream that
 * came from elsewhere leads to nobody else.
 *
 * @throws UserError `stream-server` where it cannot listen
 */
export async function serveStreams(options: StreamServerOptions): Promise<StreamServer> {
  const { folder, host = '127.0.0.1', port = 0, clock, onRequest } = options
  const { default: express } = await import('express')
  const app = express()
  app.disable('x-powered-by')
  if (onRequest)
    app.use((request, response, next) => {
      const { method, path } = request
      response.once('finish', () => onRequest({ method, path, status: response.statusCode }))
      next()
    })
  app.get(['/streams/:name.json', '/dependencies/rhcos/:name.json'], async (request, response, next) => {
    const { name } = request.params as { name: string }
    // `rhcos-4.8` is the stream whose document is `stream-4.8.json`.
    const openshift = `dependencies/rhcos/${name.replace(/^rhcos-/, 'stream-')}.json`
    const places = [normalize(decodeURIComponent(request.path)), `${name}.json`, openshift]
    const path = places.map((one) => join(folder, one)).find((one) => existsSync(one))
    if (!/^[\w.-]+$/.test(name) || path === undefined) return next()
    const stream = STREAM.read(await readFile(path), path)
    const base = `${request.protocol}://${request.get('host') ?? ''}`
    const here = relocated(stream, (location) => placeHere(folder, base, location))
    response.type('json').send(documentText(here))
  })
  app.use(express.static(folder, { index: false, redirect: false, dotfiles: 'deny' }))
  app.use((_, response) => void response.status(404).type('text').send('there is no such file\n'))
  const failed: ErrorRequestHandler = (error: Error, _, response, next) => {
    if (response.headersSent) return next(error)
    const bad = 'status' in error && typeof error.status === 'number' ? error.status : 500
    response.status(bad).type('text').send(`${error.message}\n`)
  }
  app.use(failed)
  const server = createServer(app)
  await held(clock, 'starting a stream server', async () => {
    server.listen(port, host)
    await once(server, 'listening').catch((cause: unknown) => {
      throw new UserError('stream-server', `nothing can be served at ${host}:${port}`, {
        cause,
        remedy: 'choose another address or port; 0 picks a free one',
      })
    })
  })
  const at = server.address() as AddressInfo
  return {
    url: `http://${at.family === 'IPv6' ? `[${at.address}]` : at.address}:${at.port}`,
    [Symbol.asyncDispose]: () =>
      held(clock, 'stopping a stream server', async () => {
        const closed = once(server, 'close')
        server.close()
        server.closeAllConnections()
        await closed
      }),
  }
}

/** A file that is not here stays where it is; the signature of one that is here is looked for beside it. */
function placeHere(folder: string, base: string, location: string): string {
  const { pathname } = new URL(location)
  const path = join(folder, normalize(decodeURIComponent(pathname)))
  const here = existsSync(path) || (path.endsWith('.sig') && existsSync(path.slice(0, -'.sig'.length)))
  return here ? `${base}${pathname}` : location
}
