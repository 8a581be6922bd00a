import { defined, parseSize, readNamedText } from '../../../base/runtime/index.js'
import { proxiesOfVariables } from '../../../base/bytes/index.js'
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { metalImageOf } from '../../../coreos/index.js'
import { isImagePlace } from '../../../base/registry/index.js'
import { fileName, isStreamFile, openStream } from '../../runs/index.js'
import { streamImage, type ImageCacheRequest } from '../../../lab/index.js'
import { type Clock, systemClock, UserError } from '../../../base/runtime/index.js'
import type { Environment } from '../environment.js'
import type { CommandOptionValues } from './resolve-options.js'
import type { IMAGE_CACHE_OPTIONS, REGISTRY_OPTIONS } from './option-lists.js'
import { registryOf } from './registry-access.js'
import { usageError } from '../usage-error.js'

/** Formats that --cache-as takes. */
const CACHE_FORMS = ['fetched', 'zstd', 'raw'] as const

type CacheOptions = CommandOptionValues<(typeof IMAGE_CACHE_OPTIONS)[number]>
type ImageOptions = CacheOptions & CommandOptionValues<(typeof REGISTRY_OPTIONS)[number]> & { image?: string }

/**
 * The image cache and the way to fetch images; proxies are those of the environment.
 *
 * @throws UserError (usage) for files that cannot be read and for options that exclude each other
 */
export async function makeCacheRequest(options: CacheOptions, { variables }: Environment): Promise<ImageCacheRequest> {
  const { 'no-cache': none = false, 'cache-as': as, 'cache-size': size, 'image-ca': ca, 'image-key': keys } = options
  for (const name of ['cache-dir', 'cache-as', 'cache-size'] as const)
    if (none && options[name] !== undefined)
      throw usageError(`--no-cache and --${name} exclude each other`, 'leave one of them out')
  return {
    folder: none ? null : cacheFolder(options, variables),
    proxies: proxiesOfVariables(variables),
    as: CACHE_FORMS.find((form) => form === as) ?? 'fetched',
    ...defined({
      limit: size === undefined ? undefined : parseSize(size),
      ca: ca === undefined ? undefined : await readOptionFile(ca, '--image-ca'),
      trusted:
        keys === undefined ? undefined : await Promise.all(keys.map((key) => readOptionFile(key, '--image-key'))),
    }),
  }
}

/** The architecture of simulated machines, and of nearly all others. */
const MACHINE_PLATFORM = { architecture: 'x86_64', sectorSize: 512 }

/** The image that `--image` names, with the digest that it must have where that is known. */
export async function imageNamed(
  options: ImageOptions,
  environment: Environment,
): Promise<{ image?: string; imageSha256?: string }> {
  const { image } = options
  if (image === undefined) return {}
  if (!image.startsWith('stream:')) return { image }
  const surroundings = { clock: systemClock(), signal: environment.stopped }
  const fetching = await makeCacheRequest(options, environment)
  const named = image.slice('stream:'.length)
  if (isImagePlace(named.split('#')[0]!)) {
    const request = { stream: named, registry: await registryOf(options, environment) }
    const stream = await openStream(request, { folder: null, fetching, ...surroundings })
    const { url, sha256 } = metalImageOf(stream, MACHINE_PLATFORM, named)
    return { image: url, imageSha256: sha256 }
  }
  if (isStreamFile(named)) return imageOfFile(named, fetching, surroundings)
  const { url, sha256 } = await streamImage(named, MACHINE_PLATFORM, fetching, surroundings)
  return { image: url, ...defined({ imageSha256: sha256 ?? undefined }) }
}

/** The image of stream metadata in a file: the file beside it that has the published name, or else the published one. */
async function imageOfFile(
  named: string,
  fetching: ImageCacheRequest,
  surroundings: { clock: Clock; signal: AbortSignal },
): Promise<{ image: string; imageSha256: string }> {
  const stream = await openStream({ stream: named }, { folder: null, fetching, ...surroundings })
  const { url, sha256 } = metalImageOf(stream, MACHINE_PLATFORM, named)
  const beside = join(dirname(named), fileName(url))
  return { image: existsSync(beside) ? beside : url, imageSha256: sha256 }
}

/** The cache folder of the XDG base directory specification; null for a user without a home. */
export function cacheFolder(
  { 'cache-dir': named }: CacheOptions,
  variables: Readonly<Record<string, string | undefined>>,
): string | null {
  if (named !== undefined) return named
  const { XDG_CACHE_HOME: base, HOME: home } = variables
  if (base?.startsWith('/')) return join(base, 'ironstage', 'images')
  return home ? join(home, '.cache', 'ironstage', 'images') : null
}

async function readOptionFile(path: string, option: string): Promise<string> {
  try {
    return await readNamedText(path)
  } catch (cause) {
    throw new UserError('file-unreadable', `the file ${path} of ${option} cannot be read`, {
      cause,
      kind: 'usage',
      remedy: 'name a file that you may read',
    })
  }
}
