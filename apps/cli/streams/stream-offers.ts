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
import type { FetchFlags } from './fetch-options.js'
import { streamFor } from './fetching.js'
import { usageError } from '../usage-error.js'

export interface LookupFlags extends FetchFlags {
  architecture: string
  platform: string
  format?: string
  file?: ImageFileName
  cloud: RegionalCloud
  region?: string
  field?: string
  pin?: string
  pinSha256?: string
  json?: boolean
}

/** `ironstage stream lookup STREAM`: one file or cloud image, or a list of what there is. */
export async function streamLookup(named: string, flags: LookupFlags, environment: Environment): Promise<number> {
  const { stdout } = environment
  const stream = await lookedIn(named, flags, environment)
  if (flags.format === undefined && flags.region === undefined) {
    const rows = offers(stream)
    stdout.either(flags.json, rows, formatOffers(rows))
    return 0
  }
  const found = foundIn(stream, flags)
  const { field } = flags
  if (field === undefined && flags.json) stdout.json(found)
  else if (field === undefined) stdout.document(found)
  else if (Object.hasOwn(found, field)) stdout.line(String(found[field]))
  else throw usageError(`there is no ${field}`, `there is ${Object.keys(found).join(', ')}`, 'stream-artifact')
  return 0
}

/** A dated copy is named by its folder, as in `streams/stream-4.8`. */
async function lookedIn(named: string, flags: LookupFlags, environment: Environment): Promise<StreamMetadata> {
  const { pin, pinSha256 } = flags
  if (pin === undefined && pinSha256 === undefined) return streamFor(named, flags, environment)
  const shelf = { folder: dirname(named), name: basename(named), clock: systemClock() }
  const wanted = defined({ date: pin, sha256: pinSha256 })
  return (await pinnedStream(shelf, wanted)).stream
}

function foundIn(stream: StreamMetadata, flags: LookupFlags): Record<string, unknown> {
  const { architecture, platform, format, file = 'disk', cloud, region } = flags
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
