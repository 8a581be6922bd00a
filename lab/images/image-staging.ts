import { basename } from 'node:path'
import { decodedFile, FetchFailure, HttpClient, isLoopback } from '../../base/bytes/index.js'
import { userError, type Clock, type Logger, type Random } from '../../base/runtime/index.js'
import type { ImageAsset, StageAsset } from '../../targets/index.js'
import {
  ImageCache,
  stageFromCache,
  stageUncached,
  type ImageCacheOptions,
  type ImageReach,
} from '../../steps/index.js'
import { imageOfStream } from '../../coreos/index.js'

/** Image cache, and options for downloads. */
export interface ImageCacheRequest extends Omit<ImageCacheOptions, 'clock' | 'logger' | 'contents' | 'folder'> {
  /** Folder, created on first use; null for no cache. */
  folder: string | null
}

/**
 * Looks up the current image of a CoreOS stream.
 *
 * @param stream name of a Fedora CoreOS stream, or the URL of stream metadata
 * @throws UserError when the stream has no image for the machine, or cannot be fetched
 */
export function streamImage(
  stream: string,
  machine: { architecture: string; sectorSize: number },
  fetching: ImageCacheRequest,
  { clock, signal }: { clock: Clock; signal: AbortSignal },
): Promise<ImageAsset> {
  return imageOfStream(new HttpClient({ ...fetching, clock }), { stream, ...machine }, signal)
}

interface StagingSurroundings {
  clock: Clock
  random: Random
  logger: Logger
}

/** @throws UserError when the folder cannot be used */
export function openImageCache(
  request: ImageCacheRequest & { folder: string },
  { clock, logger }: Pick<StagingSurroundings, 'clock' | 'logger'>,
): Promise<ImageCache> {
  return ImageCache.open({ ...request, clock, logger, contents: (path) => decodedFile(path, clock) })
}

/** Staging for simulated machines, whose programs read files of this process directly. */
export function simulatedStaging(request: ImageCacheRequest | undefined, parts: StagingSurroundings): StageAsset {
  return stageOn({ kind: 'files', pathThere: (path) => path }, request, parts)
}

/**
 * Staging for a real target: images are fetched and checked on this host. A loopback URL means this host first; when
 * nothing listens here and no digest is known, a target behind SSH fetches the image from its own loopback interface.
 */
export function realStaging(
  reach: ImageReach,
  request: ImageCacheRequest | undefined,
  parts: StagingSurroundings,
): StageAsset {
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

/** Wraps `stage`: for one URL, which serves a file of this host, the file is copied to the target instead. */
export function stagedFile(
  stage: StageAsset | undefined,
  { url, file }: { url: string; file: string },
  put: NonNullable<Extract<ImageReach, { kind: 'port' }>['put']>,
): StageAsset {
  return async (asset, options) => {
    if (asset.url !== url) return (await stage?.(asset, options)) ?? null
    const { path, [Symbol.asyncDispose]: dispose } = await put(file, basename(file), options)
    return { from: { kind: 'file', path }, about: { file }, failure: () => undefined, [Symbol.asyncDispose]: dispose }
  }
}

function stageOn(reach: ImageReach, request: ImageCacheRequest | undefined, parts: StagingSurroundings): StageAsset {
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
