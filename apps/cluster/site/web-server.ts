import { bytesSource, fileRepresentation, serveFiles, type FoundFile } from '../../../base/bytes/index.js'
import type { Clock, Logger, Random } from '../../../base/runtime/index.js'
import type { SiteNetwork } from './site-network.js'

/** A web server with files, of the Internet or a mirror. */
export interface WebServer extends AsyncDisposable {
  readonly url: string
  /** Paths of the answered requests, in order. */
  readonly fetched: readonly string[]
  /** Puts a file there: bytes, or a path on this host. Its URL. */
  put(path: string, file: Uint8Array | string): string
}

interface ServerParts {
  clock: Clock
  random: Random
  logger: Logger
}

/** @param network for a server of the Internet: what reaches it, and notes what does not */
export async function openWebServer(network: SiteNetwork | null, parts: ServerParts): Promise<WebServer> {
  const files = new Map<string, Uint8Array | string>()
  const fetched: string[] = []
  const started = parts.clock.now()
  const find = async (path: string): Promise<FoundFile> => {
    const url = `${server.url}${path}`
    if (network && !network.reaches(new URL(url).host, url))
      return { refused: 403, why: 'the site is disconnected from the Internet' }
    const file = files.get(path)
    if (file === undefined) return undefined
    fetched.push(path)
    if (typeof file === 'string') return fileRepresentation(file, parts.clock)
    const etag = `"${path} ${file.length}"`
    return { source: bytesSource(file), etag, modified: started, type: 'application/octet-stream' }
  }
  const server: Awaited<ReturnType<typeof serveFiles>> = await serveFiles({
    ...parts,
    host: '127.0.0.1',
    port: 0,
    find,
  })
  network?.isOutside(server.url)
  return {
    url: server.url,
    fetched,
    put: (path, file) => {
      files.set(path, file)
      return `${server.url}${path}`
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  }
}
