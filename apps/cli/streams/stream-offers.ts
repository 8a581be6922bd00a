import { basename, dirname } from 'node:path'
import {
  cloudImage,
  imageFormat,
  pinnedStream,
  releaseOf,
  streamDisk,
  type ImageFileName,
  type RegionalCloud,
  type StreamMetadata,
} from '../../../coreos/index.js'
import { columnLines, defined, systemClock } from '../../../base/runtime/index.js'
import type { Environment } from '../environment.js'
import { streamFor } from './fetching.js'
import type { STREAM_LOOKUP_OPTIONS } from '../options/option-lists.js'
import type { CommandOptionValues } from '../options/resolve-options.js'
import { usageError } from '../usage-error.js'

type LookupOptions = CommandOptionValues<(typeof STREAM_LOOKUP_OPTIONS)[number]>

/** `ironstage stream lookup STREAM`: one file or cloud image, or a list of what there is. */
export async function streamLookup(options: LookupOptions, environment: Environment, named: string): Promise<number> {
  const { stdout } = environment
  const stream = await lookedIn(named, options, environment)
  if (options.format === undefined && options.region === undefined) {
    const rows = offers(stream)
    stdout.either(options.json, rows, formatOffers(rows))
    return 0
  }
  const found = foundIn(stream, options)
  const { field, json } = options
  if (field === undefined && json) stdout.json(found)
  else if (field === undefined) stdout.document(found)
  else if (Object.hasOwn(found, field)) stdout.line(String(found[field]))
  else throw usageError(`there is no ${field}`, `there is ${Object.keys(found).join(', ')}`, 'stream-artifact')
  return 0
}

/** A dated copy is named by its folder, as in `streams/stream-4.8`. */
async function lookedIn(named: string, options: LookupOptions, environment: Environment): Promise<StreamMetadata> {
  const { pin, 'pin-sha256': sha256 } = options
  if (pin === undefined && sha256 === undefined) return streamFor(named, options, environment)
  const shelf = { folder: dirname(named), name: basename(named), clock: systemClock() }
  const wanted = defined({ date: pin, sha256 })
  return (await pinnedStream(shelf, wanted)).stream
}

function foundIn(stream: StreamMetadata, options: LookupOptions): Record<string, unknown> {
  const { architecture = 'x86_64', platform = 'metal', format, region } = options
  // The table has checked the words.
  const file = (options.file ?? 'disk') as ImageFileName
  const cloud = (options.cloud ?? 'aws') as RegionalCloud
  if (region !== undefined) return { ...cloudImage(stream, architecture, cloud, region) }
  const release = releaseOf(stream, architecture, platform)
  if (file === 'disk') return { ...streamDisk(stream, architecture, platform, format ?? ''), release }
  const files = imageFormat(stream, architecture, platform, format ?? '')
  if (files[file]) return { ...files[file], release }
  throw usageError(
    `${stream.stream}/${architecture}: artifact '${platform}' format '${format}' ${file} not found`,
    `it has ${Object.keys(files).join(', ')}`,
    'stream-artifact',
  )
}

interface Offer {
  architecture: string
  platform: string
  format: string
}

function offers(stream: StreamMetadata): Offer[] {
  return Object.entries(stream.architectures)
    .flatMap(([architecture, { artifacts }]) =>
      Object.entries(artifacts).flatMap(([platform, { formats }]) =>
        Object.keys(formats).map((format) => ({ architecture, platform, format })),
      ),
    )
    .sort((a, b) => (offerKeyOf(a) < offerKeyOf(b) ? -1 : 1))
}

const offerKeyOf = ({ architecture, platform, format }: Offer): string => [architecture, platform, format].join('\0')

/** The output of `coreos-installer list-stream`. */
function formatOffers(rows: readonly Offer[]): string[] {
  const cells = rows.map(({ architecture, platform, format }) => [architecture, platform, format])
  return columnLines([['Architecture', 'Platform', 'Format'], ...cells], { gap: 2 })
}
