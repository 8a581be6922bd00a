import { dirname } from 'node:path'
import type { Images } from '../../../base/registry/index.js'
import { isStreamFile, openImages, openStream } from '../../runs/index.js'
import { defined, systemClock } from '../../../base/runtime/index.js'
import type { ImageCacheRequest } from '../../../lab/index.js'
import type { DownloadPolicy, StreamMetadata } from '../../../coreos/index.js'
import type { Environment } from '../environment.js'
import type { FetchFlags } from './fetch-options.js'
import { makeCacheRequest } from '../options/cache-request.js'
import { IMAGE_CACHE_OPTIONS } from '../options/option-lists.js'
import { registryOf } from '../options/registry-access.js'
import { resolveOptions } from '../options/resolve-options.js'

/** Options for fetching: the cache, proxies and certificates. */
export async function fetchingOf(flags: FetchFlags, environment: Environment): Promise<ImageCacheRequest> {
  const { cacheDir, cache = true, imageCa, imageKey } = flags
  const ownOptions = defined({
    'cache-dir': cacheDir,
    'no-cache': cache ? undefined : true,
    'image-ca': imageCa,
    'image-key': imageKey,
  })
  const options = await resolveOptions(IMAGE_CACHE_OPTIONS, ownOptions, environment.variables)
  return makeCacheRequest(options, environment)
}

/** The mirror to use, and whether the network may be used. */
export const downloadPolicyOf = ({ mirror, offline = false, insecure = false }: FetchFlags): DownloadPolicy => ({
  ...defined({ mirror }),
  offline,
  insecure,
})

/** Folder in which files of the metadata may be: that of the metadata itself. */
export const besideStream = (named: string): { beside?: string } =>
  isStreamFile(named) ? { beside: dirname(named) } : {}

/** Opens images in registries and folders. */
export async function imagesFor(flags: FetchFlags, environment: Environment): Promise<Images> {
  const surroundings = {
    fetching: await fetchingOf(flags, environment),
    clock: systemClock(),
    signal: environment.stopped,
  }
  return openImages(downloadPolicyOf(flags), await registryOf(flags, environment), surroundings)
}

/** A stream by name, URL, file or release. */
export async function streamFor(named: string, flags: FetchFlags, environment: Environment): Promise<StreamMetadata> {
  const { folder, ...fetching } = await fetchingOf(flags, environment)
  const { streamBaseUrl } = flags
  return openStream(
    {
      stream: named,
      ...downloadPolicyOf(flags),
      registry: await registryOf(flags, environment),
      ...defined({ streamBaseUrl }),
    },
    {
      folder: folder === null ? null : `${folder}-streams`,
      fetching,
      clock: systemClock(),
      signal: environment.stopped,
    },
  )
}
