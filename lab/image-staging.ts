import { basename } from 'node:path'
import { FetchFailure, HttpClient } from '../bytes/index.js'
import { decodedFile } from '../bytes/index.js'
import { userError, type Clock, type Logger, type Random } from '../runtime/index.js'
import type { Asset, StageAsset } from '../targets/index.js'
import {
  ImageCache,
  imageOfStream,
  stageFromCache,
  stageUncached,
  type ImageCacheOptions,
  type Reach,
} from '../steps/index.js'
import { isLoopback } from '../coreos/index.js'

/** Where images from URLs are kept, and how they are fetched. */
export interface ImageCacheRequest extends Omit<ImageCacheOptions, 'clock' | 'logger' | 'contents' | 'folder'> {
  /** Made when first needed; null keeps nothing. */
  folder: string | null
}

/**
 * The image that a CoreOS stream names now.
 *
 * @param stream name of a Fedora CoreOS stream, or the URL of stream metadata
 * @throws UserError when it has none for the machine, or cannot be had
 */
export function streamImage(
  stream: string,
  machine: { architecture: string; sectorSize: number },
  fetching: ImageCacheRequest,
  { clock, signal }: { clock: Clock; signal: AbortSignal },
): Promise<Asset> {
  return imageOfStream(new HttpClient({ ...fetching, clock }), { stream, ...machine }, signal)
}

interface Surroundings {
  clock: Clock
  random: Random
  logger: Logger
}

/** @throws UserError when the folder cannot be used */
export function openImageCache(
  request: ImageCacheRequest & { folder: string },
  { clock, logger }: Pick<Surroundings, 'clock' | 'logger'>,
): Promise<ImageCache> {
  return ImageCache.open({ ...request, clock, logger, contents: (path) => decodedFile(path, clock) })
}

/** How images come to simulated machines: they are of this process, and so are their programs. */
export function simulatedStage(request: ImageCacheRequest | undefined, parts: Surroundings): StageAsset {
  return stageOn({ kind: 'files', pathThere: (path) => path }, request, parts)
}

/**
 * How images come to a real target: fetched and checked on this host, also from its own loopback interface. A target behind
 * SSH may mean its own by that: where nothing listens here and no digest is known, it fetches the image by itself.
 */
export function realStage(reach: Reach, request: ImageCacheRequest | undefined, parts: Surroundings): StageAsset {
  const stage = stageOn(reach, request, parts)
  if (reach.kind === 'files') return stage
  return async (asset, options) => {
    try {
      return await stage(asset, options)
    } catch (error) {
      const { cause } = userError(error) ?? {}
      const elsewhere = cause instanceof FetchFailure && cause.code === 'refused' && asset.sha256 === null
      if (!elsewhere || !isLoopback(new URL(asset.url).hostname)) throw error
      parts.logger('warn', `${cause.message} on this host: the target fetches the image by itself, unchecked`)
      return null
    }
  }
}

/** As `stage`, but for one URL behind which a file of this host is: that is brought to the target. */
export function stagedFile(
  stage: StageAsset | undefined,
  { url, file }: { url: string; file: string },
  put: NonNullable<Extract<Reach, { kind: 'port' }>['put']>,
): StageAsset {
  return async (asset, options) => {
    if (asset.url !== url) return (await stage?.(asset, options)) ?? null
    const { path, [Symbol.asyncDispose]: dispose } = await put(file, basename(file), options)
    return { from: { kind: 'file', path }, about: { file }, failure: () => undefined, [Symbol.asyncDispose]: dispose }
  }
}

function stageOn(reach: Reach, request: ImageCacheRequest | undefined, parts: Surroundings): StageAsset {
  const { folder = null, ...fetching } = request ?? {}
  if (folder === null) return stageUncached({ reach, ...fetching, ...parts })
  let cache: Promise<ImageCache> | undefined
  return async (asset, options) => {
    cache ??= openImageCache({ ...fetching, folder }, parts)
    try {
      await cache
    } catch (error) {
      cache = undefined
      throw error
    }
    return stageFromCache(await cache, { reach, ...parts })(asset, options)
  }
}
