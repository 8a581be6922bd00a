import { existsSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { join, normalize } from 'node:path'
import { bytesSource, fileRepresentation, type FoundFile, serveFiles, sha256Hex } from '../../base/bytes/index.js'
import {
  withClockHeld,
  UserError,
  type Clock,
  type Logger,
  type Random,
  readNamedFile,
} from '../../base/runtime/index.js'
import { documentText } from './metadata-document.js'
import { relocateStream } from './mirror.js'
import { STREAM_KIND } from './stream-metadata.js'

export interface StreamServerOptions {
  /**
   * - `streams/NAME.json` or `NAME.json`: stream metadata, served as `/streams/NAME.json`
   * - `dependencies/rhcos/stream-X.Y.json` or `stream-X.Y.json`, also with a date: served as
   *   `/dependencies/rhcos/stream-X.Y.json`
   * - everything else: files, by the path that they have on their original server
   */
  folder: string
  host?: string
  /** 0 picks a free port. */
  port?: number
  clock: Clock
  random: Random
  logger: Logger
  onRequest?: (request: { method: string; path: string; status: number }) => void
}

export interface StreamServer extends AsyncDisposable {
  /** Without a trailing slash. */
  readonly url: string
}

/**
 * Serves stream metadata and its files, with ranges. Locations of files in the folder are rewritten to this server, so
 * its clients fetch those from nowhere else.
 *
 * @throws UserError `stream-server` when it cannot listen
 */
export async function serveStreams(options: StreamServerOptions): Promise<StreamServer> {
  const { folder, host = '127.0.0.1', port = 0, clock } = options
  return serveFiles({
    ...options,
    host,
    port,
    find: async (path, headers) => {
      const decoded = decodedPath(path)
      if (decoded === undefined) return undefined
      const base = `http://${String(headers['host'] ?? '')}`
      return (await streamAt(folder, decoded, base, clock)) ?? (await fileRepresentation(join(folder, decoded), clock))
    },
  }).catch((error: unknown) => {
    if (!(error instanceof UserError)) throw error
    throw new UserError('stream-server', `nothing can be served at ${host}:${port}`, {
      cause: error.cause,
      remedy: 'choose another address or port; 0 picks a free one',
    })
  })
}

/** Undefined for a path that leads out of the folder or to a hidden file. */
function decodedPath(path: string): string | undefined {
  let decoded: string
  try {
    decoded = decodeURIComponent(path)
  } catch {
    return undefined
  }
  return decoded.includes('\0') || decoded.split('/').some((part) => part.startsWith('.')) ? undefined : decoded
}

async function streamAt(folder: string, path: string, base: string, clock: Clock): Promise<FoundFile> {
  const [, name] = /^\/(?:streams|dependencies\/rhcos)\/([\w.-]+)\.json$/.exec(path) ?? []
  if (name === undefined) return undefined
  // The document of the stream `rhcos-4.8` is `stream-4.8.json`.
  const openshift = `dependencies/rhcos/${name.replace(/^rhcos-/, 'stream-')}.json`
  const file = [path, `${name}.json`, openshift].map((place) => join(folder, place)).find((place) => existsSync(place))
  if (file === undefined) return undefined
  const [document, { mtimeMs }] = await withClockHeld(clock, `reading ${file}`, () =>
    Promise.all([readNamedFile(file), stat(file)]),
  )
  try {
    const served = relocateStream(STREAM_KIND.read(document, file), (location) =>
      servedLocation(folder, base, location),
    )
    const bytes = Buffer.from(documentText(served))
    return {
      source: bytesSource(bytes),
      etag: `"${sha256Hex(bytes).slice(0, 32)}"`,
      modified: mtimeMs,
      type: 'application/json',
    }
  } catch (error) {
    if (!(error instanceof Error)) throw error
    return { refused: 500, why: error.message }
  }
}

/** The location on this server of a file in the folder, or of the signature of one; other locations stay. */
function servedLocation(folder: string, base: string, location: string): string {
  const { pathname } = new URL(location)
  const path = join(folder, normalize(decodeURIComponent(pathname)))
  const exists = existsSync(path) || (path.endsWith('.sig') && existsSync(path.slice(0, -'.sig'.length)))
  return exists ? `${base}${pathname}` : location
}
