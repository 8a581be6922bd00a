import { HttpClient, type HttpClientOptions } from '../../bytes/index.js'
import type { Clock, Logger, Random } from '../../runtime/index.js'
import { opening, type Scope } from '../../runtime/index.js'
import type { Asset, StageAsset, StagedAsset, StageOptions } from '../../targets/index.js'
import { openCheckedStream } from './checked-stream.js'
import type { ImageCache } from './image-cache.js'
import { openImageServer, type Served } from './image-server.js'

/** How a target's programs reach what is on this host. */
export type Reach =
  /** By path, which may be another one to them; null where they do not see that file, and get it by URL then. */
  | { kind: 'files'; pathThere: (path: string) => string | null }
  /** By a port of their own that leads to one of this host's loopback interface. */
  | {
      kind: 'port'
      lend: (port: number) => Promise<{ port: number } & AsyncDisposable>
      /** Brings a file to them whole, where it is to be there before it is used. */
      put?: (path: string, name: string, options: StageOptions) => Promise<{ path: string } & AsyncDisposable>
    }

export interface StagingOptions {
  reach: Reach
  clock: Clock
  random: Random
  logger: Logger
}

/**
 * Images out of a cache, for a target: a file where its programs see this host's files, else served to it with ranges.
 */
export function stageFromCache(cache: ImageCache, options: StagingOptions): Stages {
  return (asset, { signal, onProgress }) =>
    opening(async (scope) => {
      const image = scope.use(await cache.get(asset, { signal, ...(onProgress ? { onProgress } : {}) }))
      const { sha256, kind, verified, transcoded } = image.record
      const about = {
        sha256,
        kind,
        verified,
        ...(transcoded ? { as: 'zst', contents: transcoded.contents.sha256 } : {}),
      }
      const { reach } = options
      const name = transcoded ? 'image.raw.zst' : kind === 'raw' ? 'image.raw' : `image.raw.${kind}`
      const path =
        reach.kind === 'files'
          ? reach.pathThere(image.path)
          : reach.put
            ? scope.use(await reach.put(image.path, name, { signal, ...(onProgress ? { onProgress } : {}) })).path
            : null
      const file = { kind: 'file', path: image.path, digest: transcoded?.sha256 ?? sha256 } as const
      const from = path === null ? await served(file, name, options, scope) : ({ kind: 'file', path } as const)
      return { from, about, failure: () => undefined, [Symbol.asyncDispose]: () => scope[Symbol.asyncDispose]() }
    })
}

/** A {@link StageAsset} that leaves nothing to others. */
export type Stages = (asset: Asset, options: StageOptions) => Promise<StagedAsset>

/**
 * For who keeps no images: one whose digest is known, which no installer looks at, is checked on its way; any other is left
 * to the installer.
 */
export function stageUncached(options: Parameters<typeof stageStreamed>[0]): StageAsset {
  const streamed = stageStreamed(options)
  return async (asset, more) => (asset.sha256 === null ? null : streamed(asset, more))
}

/**
 * Images as they come from their server, for who keeps none: passed on to the target, the last bytes only once digest and
 * signature are known, so that a bad image never becomes a whole one.
 */
export function stageStreamed(
  options: StagingOptions & Omit<HttpClientOptions, 'clock'> & { trusted?: readonly string[] },
): Stages {
  const { clock, logger, trusted = [] } = options
  const http = new HttpClient(options)
  return (asset) =>
    opening(async (scope) => {
      let failure: unknown
      const stream: Served = {
        kind: 'stream',
        open: (signal) => openCheckedStream(asset, { http, trusted, clock, logger }, signal),
        failed: (error) => (failure = error),
      }
      const name = new URL(asset.url).pathname.split('/').at(-1) || 'image'
      const from = await served(stream, decodeURIComponent(name), options, scope)
      return {
        ...{ from, about: { sha256: asset.sha256, streamed: true }, failure: () => failure },
        [Symbol.asyncDispose]: () => scope[Symbol.asyncDispose](),
      }
    })
}

async function served(what: Served, name: string, { reach, ...parts }: StagingOptions, scope: Scope) {
  const server = scope.use(await openImageServer(parts))
  const { path } = scope.use(server.serve(what, name))
  const port = reach.kind === 'port' ? scope.use(await reach.lend(server.port)).port : server.port
  return { kind: 'url', url: `http://127.0.0.1:${port}${path}` } as const
}
