import type { Command } from 'commander'
import { openStream, systemClock, type ImageCacheRequest, type Reach, type Stream } from '../lab/index.js'
import { repeated } from './customize-options.js'
import type { Environment } from './environment.js'
import { IMAGE_CACHE_OPTIONS, imagesOf } from './image-cache.js'
import { resolveOptions } from './options.js'

/** Options of every command that reads published metadata and files, as commander hands them over. */
export interface FetchFlags extends Reach {
  streamBaseUrl?: string
  cacheDir?: string
  /** False for `--no-cache`. */
  cache?: boolean
  imageCa?: string
  imageKey?: string[]
}

export function addFetchOptions(command: Command): Command {
  return command
    .option('--stream-base-url <URL>', "where NAME.json of a stream is (default: Fedora's, or streams/ of the mirror)")
    .option('--mirror <URL>', 'ask this server alone, whose files have the paths that they have where they come from')
    .option('--offline', 'ask nobody: take what was fetched before')
    .option('--insecure', 'let http pass, and files without signature')
    .option('--cache-dir <DIR>', 'folder that keeps what is fetched (default: ~/.cache/ironstage/images)')
    .option('--no-cache', 'keep nothing')
    .option('--image-ca <FILE>', 'PEM file of the authorities to believe')
    .addOption(repeated('--image-key <FILE>', 'armoured OpenPGP key to trust besides those of Fedora and Red Hat'))
}

/** How things are fetched, and where they are kept. */
export async function fetchingOf(flags: FetchFlags, environment: Environment): Promise<ImageCacheRequest> {
  const { cacheDir, cache = true, imageCa, imageKey } = flags
  const given = {
    ...(cacheDir === undefined ? {} : { 'cache-dir': cacheDir }),
    ...(cache ? {} : { 'no-cache': true }),
    ...(imageCa === undefined ? {} : { 'image-ca': imageCa }),
    ...(imageKey === undefined ? {} : { 'image-key': imageKey }),
  }
  const options = await resolveOptions(IMAGE_CACHE_OPTIONS, given, environment.variables)
  return imagesOf(options, environment)
}

/** Where and what a command asks. */
export const reachOf = ({ mirror, offline = false, insecure = false }: FetchFlags): Reach => ({
  ...(mirror === undefined ? {} : { mirror }),
  ...{ offline, insecure },
})

/** A stream by name, URL or file. */
export async function streamFor(named: string, flags: FetchFlags, environment: Environment): Promise<Stream> {
  const { folder, ...fetching } = await fetchingOf(flags, environment)
  const { streamBaseUrl } = flags
  return openStream(
    { stream: named, ...reachOf(flags), ...(streamBaseUrl === undefined ? {} : { streamBaseUrl }) },
    {
      folder: folder === null ? null : `${folder}-streams`,
      ...{ fetching, clock: systemClock(), signal: environment.stopped },
    },
  )
}
