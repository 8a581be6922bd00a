import { basename } from 'node:path'
import { HttpClient, type HttpClientOptions } from '../../base/bytes/index.js'
import type { Clock, Logger, Random } from '../../base/runtime/index.js'
import { defined, openInScope, type Scope } from '../../base/runtime/index.js'
import type { ImageAsset, StageAsset, StagedAsset, StageAssetOptions } from '../../targets/index.js'
import { fileNameOf, fileOf, formOf } from './cache-folder.js'
import { openCheckedStream } from './checked-stream.js'
import type { ImageCache } from './image-cache.js'
import { openImageServer, type ServedContent } from './image-server.js'

/** Access of a target's programs to images on this host. */
export type ImageReach =
  /** By path, translated for the target; null for a file that they cannot see, which they then get by URL. */
  | { kind: 'files'; pathThere: (path: string) => string | null }
  /** By a port of the target that is forwarded to this host's loopback interface. */
  | {
      kind: 'port'
      forward: (port: number) => Promise<{ port: number } & AsyncDisposable>
      /** Copies a whole file to the target before it is used. */
      put?: (path: string, name: string, options: StageAssetOptions) => Promise<{ path: string } & AsyncDisposable>
    }
  /** By a server of files that the target reaches over its network. */
  | { kind: 'network'; serve: (file: { path: string; digest: string }, name: string) => { url: string } & Disposable }

export interface StagingOptions {
  reach: ImageReach
  clock: Clock
  random: Random
  logger: Logger
}

/**
 * Stages images from a cache: as a file where the target's programs see this host's files, by a server with ranges
 * otherwise.
 */
export function stageFromCache(cache: ImageCache, options: StagingOptions): Stages {
  return (asset, more) =>
    openInScope(async (scope) => {
      const image = scope.use(await cache.get(asset, more))
      const { record } = image
      const { sha256, kind, verified, transcoded } = record
      const about = {
        sha256,
        kind,
        verified,
        ...(transcoded ? { as: formOf(record), contents: transcoded.contents.sha256 } : {}),
      }
      const { reach } = options
      const name = fileNameOf(record)
      const path =
        reach.kind === 'files'
          ? reach.pathThere(image.path)
          : reach.kind === 'port' && reach.put
            ? scope.use(await reach.put(image.path, name, more)).path
            : null
      const file = { kind: 'file', path: image.path, digest: fileOf(record).sha256 } as const
      const from = path === null ? await served(file, name, options, scope) : ({ kind: 'file', path } as const)
      return { from, about, failure: () => undefined, [Symbol.asyncDispose]: () => scope[Symbol.asyncDispose]() }
    })
}

/** Stages one file of this host in place of any asset; `digest` is its SHA-256 in hex. */
export const stageFile =
  (file: { path: string; digest: string }, options: StagingOptions): Stages =>
  () =>
    openInScope(async (scope) => ({
      from: await served({ kind: 'file', ...file }, basename(file.path), options, scope),
      about: { file: file.path, sha256: file.digest },
      failure: () => undefined,
      [Symbol.asyncDispose]: () => scope[Symbol.asyncDispose](),
    }))

/** A {@link StageAsset} that never leaves the download to the target's programs. */
export type Stages = (asset: ImageAsset, options: StageAssetOptions) => Promise<StagedAsset>

/**
 * Stages images without a cache: an image with a digest is checked while it streams, since no installer checks the digest;
 * the installer fetches any other itself.
 */
export function stageUncached(options: Parameters<typeof stageStreamed>[0]): StageAsset {
  const streamed = stageStreamed(options)
  return async (asset, more) => (asset.sha256 === null ? null : streamed(asset, more))
}

/**
 * Streams images to the target without a cache. The last bytes follow only after the digest and the signature are checked,
 * so that a bad image never arrives whole.
 */
export function stageStreamed(
  options: StagingOptions & Omit<HttpClientOptions, 'clock'> & { trusted?: readonly string[] },
): Stages {
  const { clock, logger, trusted = [] } = options
  return (asset, { through }) =>
    openInScope(async (scope) => {
      const http = new HttpClient({ ...options, ...defined({ through }) })
      let failure: unknown
      const stream: ServedContent = {
        kind: 'stream',
        open: (signal) => openCheckedStream(asset, { http, trusted, clock, logger }, signal),
        failed: (error) => (failure = error),
      }
      const name = new URL(asset.url).pathname.split('/').at(-1) || 'image'
      const from = await served(stream, decodeURIComponent(name), options, scope)
      return {
        from,
        about: { sha256: asset.sha256, streamed: true },
        failure: () => failure,
        [Symbol.asyncDispose]: () => scope[Symbol.asyncDispose](),
      }
    })
}

async function served(
  what: ServedContent,
  name: string,
  { reach, clock, random, logger }: StagingOptions,
  scope: Scope,
) {
  if (reach.kind === 'network') {
    if (what.kind !== 'file') throw new Error('a server of files has no streams')
    return { kind: 'url', url: scope.use(reach.serve(what, name)).url } as const
  }
  const server = scope.use(await openImageServer({ clock, random, logger }))
  const { path } = scope.use(server.serve(what, name))
  const port = reach.kind === 'port' ? scope.use(await reach.forward(server.port)).port : server.port
  return { kind: 'url', url: `http://127.0.0.1:${port}${path}` } as const
}
