import { parseSize } from '../../../base/runtime/index.js'
import { openImageCache } from '../../../lab/index.js'
import { silent, sizeText, systemClock } from '../../../base/runtime/index.js'
import type { ImageCache, ImageEntry } from '../../../steps/index.js'
import type { Environment } from '../environment.js'
import { cacheFolder } from '../options/cache-request.js'
import type { CommandOptionValues } from '../options/resolve-options.js'
import type { CACHE_LIST_OPTIONS, CACHE_PRUNE_OPTIONS } from '../options/option-lists.js'
import { usageError } from '../usage-error.js'

type CacheListOptions = CommandOptionValues<(typeof CACHE_LIST_OPTIONS)[number]>
type PruneOptions = CommandOptionValues<(typeof CACHE_PRUNE_OPTIONS)[number]>

/** `ironstage cache list`: the cached images, the most recently used last. */
export async function cacheList(options: CacheListOptions, environment: Environment): Promise<number> {
  const { cache, print } = await openListedCache(options, environment)
  const images = await cache.list()
  for (const image of images) print(entryJson(image), imageEntryLines(image))
  if (images.length === 0 && !options.json) print({}, 'no images are kept')
  return 0
}

/** `ironstage cache prune`: deletes unfinished downloads, and images beyond the cache's size. */
export async function cachePrune(options: PruneOptions, environment: Environment): Promise<number> {
  const { cache, print } = await openListedCache(options, environment)
  const { all = false, 'cache-size': size } = options
  const { images, freed, inUse } = await cache.prune(all ? 0 : size === undefined ? undefined : parseSize(size))
  const left = inUse === 0 ? '' : `; ${inUse} stay, since installations use them`
  print(
    { event: 'pruned', images, freed, in_use: inUse },
    `${images} ${images === 1 ? 'image' : 'images'} deleted, ${sizeText(freed)} freed${left}`,
  )
  return 0
}

/** `ironstage cache verify`: reads every image again. Exit code 1 when one was damaged. */
export async function cacheVerify(options: CacheListOptions, environment: Environment): Promise<number> {
  const { cache, print } = await openListedCache(options, environment)
  let damaged = 0
  await cache.verify((image, whole) => {
    if (!whole) damaged++
    const [first = '', ...sources] = imageEntryLines(image)
    print({ ...entryJson(image), whole }, [
      `${whole ? 'good   ' : 'DAMAGED'}  ${first}${whole ? '' : '; deleted'}`,
      ...sources,
    ])
  }, environment.stopped)
  return damaged === 0 ? 0 : 1
}

async function openListedCache(
  options: CacheListOptions,
  { stdout, variables }: Environment,
): Promise<{ cache: ImageCache; print: (event: object, text: string | readonly string[]) => void }> {
  const folder = cacheFolder(options, variables)
  if (folder === null)
    throw usageError(
      'the folder of the image cache is not known',
      'name the folder with --cache-dir, or set HOME',
      'image-cache',
    )
  return {
    cache: await openImageCache({ folder }, { clock: systemClock(), logger: silent }),
    print: (event, text) => void stdout.either(options.json, event, text),
  }
}

const entryJson = ({ record, path, size, used }: ImageEntry): object => ({
  sha256: record.sha256,
  kind: record.kind,
  size,
  path,
  sources: record.sources,
  verified: record.verified,
  fetched: isoTime(record.fetched),
  used: isoTime(used),
  transcoded: record.transcoded,
})

/** Sources that are shown: a test server has a port of its own each time. */
const MAX_SHOWN_SOURCES = 3

/** A line about the image, and one for each place that it came from. */
function imageEntryLines({ record, size, used }: ImageEntry): string[] {
  const { sha256, kind, transcoded, verified, sources } = record
  const form = transcoded ? `${kind} as ${'as' in transcoded ? transcoded.as : 'zst'}` : kind
  const vouched = verified.signed ? `signed by ${verified.signed.by}` : verified.sha256 ? 'digest known' : 'unsigned'
  const latest = sources.slice(-MAX_SHOWN_SOURCES)
  const more = sources.length - latest.length
  return [
    `${sha256.slice(0, 16)}  ${form.padEnd(9)}  ${sizeText(size).padStart(9)}  used ${isoTime(used)}  ${vouched}`,
    ...latest.map((source) => `    from ${source}`),
    ...(more > 0 ? [`    and ${more} earlier; --json lists all`] : []),
  ]
}

const isoTime = (seconds: number): string => new Date(seconds * 1000).toISOString().replace(/\.\d+Z$/, 'Z')
