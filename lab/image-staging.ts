import { decodedFile } from '../machine/index.js'
import type { Clock, Logger, Random } from '../runtime/index.js'
import {
  ImageCache,
  stageFromCache,
  stageUncached,
  type ImageCacheOptions,
  type Reach,
  type StageAsset,
} from '../steps/index.js'

/** Where images are kept, and how they are fetched. */
export type ImageCacheRequest = Omit<ImageCacheOptions, 'clock' | 'logger' | 'contents'>

/** @throws UserError when the folder cannot be used */
export function openImageCache(
  request: ImageCacheRequest,
  { clock, logger }: { clock: Clock; logger: Logger },
): Promise<ImageCache> {
  return ImageCache.open({ ...request, clock, logger, contents: (path) => decodedFile(path, clock) })
}

interface Surroundings {
  clock: Clock
  random: Random
  logger: Logger
}

/** How images come to simulated machines: they are of this process, and so are their programs. */
export function simulatedStage(cache: ImageCacheRequest | undefined, parts: Surroundings): Promise<StageAsset> {
  return stageOn({ kind: 'files', pathThere: (path) => path }, cache, parts)
}

/**
 * How images come to a target that reaches this host's files or ports.
 *
 * @throws UserError when the cache's folder cannot be used
 */
export async function stageOn(
  reach: Reach,
  cache: ImageCacheRequest | undefined,
  parts: Surroundings,
): Promise<StageAsset> {
  if (!cache) return stageUncached({ reach, ...parts })
  return stageFromCache(await openImageCache(cache, parts), { reach, ...parts })
}
