import { basename } from 'node:path'
import { fileRepresentation, serveFiles } from '../../../base/bytes/index.js'
import type { Clock, Logger, Random } from '../../../base/runtime/index.js'

/** A file of this host at a URL of this host, for programs that read images from URLs only. */
export interface ServedImage extends AsyncDisposable {
  readonly url: string
}

/** Serves one image, and nothing else, on the loopback interface. */
export async function serveImage(
  file: string,
  options: { clock: Clock; random: Random; logger: Logger },
): Promise<ServedImage> {
  const path = `/${encodeURIComponent(basename(file))}`
  const server = await serveFiles({
    ...options,
    host: '127.0.0.1',
    port: 0,
    find: (asked) => (asked === path ? fileRepresentation(file, options.clock) : undefined),
  })
  return { url: `${server.url}${path}`, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() }
}
