import { dirname } from 'node:path'
import type { Images, MirrorRule } from '../../../base/registry/index.js'
import { isStreamFile, openImages, openStream } from '../../runs/index.js'
import { defined, systemClock } from '../../../base/runtime/index.js'
import type { DownloadPolicy, StreamMetadata } from '../../../coreos/index.js'
import type { Environment } from '../environment.js'
import { makeCacheRequest } from '../options/cache-request.js'
import type { PUBLISHED_OPTIONS } from '../options/option-lists.js'
import { registryOf } from '../options/registry-access.js'
import type { CommandOptionValues } from '../options/resolve-options.js'

/** Options of commands that read published metadata and files. */
export type PublishedOptions = CommandOptionValues<(typeof PUBLISHED_OPTIONS)[number]>

/** The mirror to use, and whether the network may be used. */
export function downloadPolicyOf(options: PublishedOptions): DownloadPolicy {
  const { mirror, offline = false, 'insecure-fetch': insecure = false } = options
  return { ...defined({ mirror }), offline, insecure }
}

/** Folder in which files of the metadata may be: that of the metadata itself. */
export const besideStream = (named: string): { beside?: string } =>
  isStreamFile(named) ? { beside: dirname(named) } : {}

/**
 * Opens images in registries and folders.
 *
 * @param known mirrors that are asked unless `--mirrors` names others
 */
export async function imagesFor(
  options: PublishedOptions,
  environment: Environment,
  known?: readonly MirrorRule[],
): Promise<Images> {
  const surroundings = {
    fetching: await makeCacheRequest(options, environment),
    clock: systemClock(),
    signal: environment.stopped,
  }
  const registry = await registryOf(options, environment)
  const mirrors = registry.mirrors ?? known
  return openImages(downloadPolicyOf(options), { ...registry, ...defined({ mirrors }) }, surroundings)
}

/** A stream by name, URL, file or release. */
export async function streamFor(
  named: string,
  options: PublishedOptions,
  environment: Environment,
): Promise<StreamMetadata> {
  const { folder, ...fetching } = await makeCacheRequest(options, environment)
  const { 'stream-base-url': streamBaseUrl } = options
  return openStream(
    {
      stream: named,
      ...downloadPolicyOf(options),
      registry: await registryOf(options, environment),
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
