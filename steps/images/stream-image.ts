import { Ajv } from 'ajv'
import { FetchFailure, maskedUrl, type HttpClient } from '../../bytes/index.js'
import { UserError } from '../../runtime/index.js'
import type { Asset } from '../../targets/index.js'

/** Base URL of Fedora's streams, as in coreos-installer 0.27.0 src/source.rs. */
export const FEDORA_STREAMS = 'https://builds.coreos.fedoraproject.org/streams/'

export interface StreamRequest {
  /** Name of a Fedora CoreOS stream, or the URL of stream metadata. */
  stream: string
  /** As printed by `uname -m`. */
  architecture: string
  /** Sector size of the disk, 512 or 4096. */
  sectorSize: number
}

interface Artifact {
  location: string
  sha256: string
  signature?: string
}

type Formats = Readonly<Record<string, { disk?: Artifact }>>

/** Largest metadata, in bytes; Fedora's has 50 KiB. */
const LARGEST = 4 * 2 ** 20

/**
 * The current metal image of a stream, with the digest of its metadata, which coreos-installer itself never checks.
 *
 * @throws UserError: stream-unreachable, stream-metadata, stream-image
 */
export async function imageOfStream(http: HttpClient, request: StreamRequest, signal: AbortSignal): Promise<Asset> {
  const { stream, architecture, sectorSize } = request
  const url = /^https?:\/\//.test(stream) ? stream : `${FEDORA_STREAMS}${encodeURIComponent(stream)}.json`
  const { architectures } = parse(await fetchStreamText(http, url, signal), url)
  const formats = architectures[architecture]?.artifacts['metal']?.formats
  if (!formats) {
    const known = Object.keys(architectures).filter((name) => architectures[name]?.artifacts['metal'])
    throw missing(url, `no metal image for ${architecture}`, `it has some for ${known.join(', ') || 'no architecture'}`)
  }
  // Fedora CoreOS uses xz, RHEL CoreOS gzip.
  const prefix = sectorSize === 4096 ? '4k.' : ''
  const disk = ['raw.xz', 'raw.gz', 'raw.zst', 'raw'].flatMap((format) => formats[prefix + format]?.disk ?? [])[0]
  if (!disk)
    throw missing(url, `no image for sectors of ${sectorSize} bytes`, `it has ${Object.keys(formats).join(', ')}`)
  const at = (location: string) => new URL(location, url).href
  return {
    ...{ url: at(disk.location), sha256: disk.sha256.toLowerCase(), signature: 'where present' },
    ...(disk.signature ? { signatureUrl: at(disk.signature) } : {}),
  }
}

/**
 * Fetches stream metadata as text.
 *
 * @throws UserError: stream-unreachable
 */
export async function fetchStreamText(http: HttpClient, url: string, signal: AbortSignal): Promise<string> {
  const unreachable = (cause: Error) =>
    new UserError('stream-unreachable', `the stream metadata at ${maskedUrl(url)} could not be fetched`, {
      cause,
      remedy:
        cause instanceof FetchFailure
          ? cause.remedy
          : 'check the name of the stream and the network; or name an image by its URL',
    })
  try {
    const answer = await http.get({ url, signal })
    try {
      if (answer.status !== 200) throw unreachable(new Error(`HTTP status ${answer.status}`))
      return (await answer.bytes(LARGEST)).toString('utf8')
    } finally {
      await answer.close()
    }
  } catch (error) {
    throw error instanceof FetchFailure ? unreachable(error) : error
  }
}

function parse(text: string, url: string): Metadata {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    value = undefined
  }
  if (valid(value)) return value
  throw new UserError('stream-metadata', `${maskedUrl(url)} is not stream metadata`, {
    remedy: 'name a stream (stable, testing, next) or the URL of its JSON document',
  })
}

interface Metadata {
  architectures: Readonly<Record<string, { artifacts: Readonly<Record<string, { formats: Formats }>> }>>
}

let validate: ((value: unknown) => value is Metadata) | undefined

/** Validates metadata; the schema is compiled on first use. */
function valid(value: unknown): value is Metadata {
  const each = (schema: object) => ({ type: 'object', additionalProperties: schema })
  const has = (properties: object, required = Object.keys(properties)) => ({ type: 'object', properties, required })
  const text = { type: 'string' }
  const digest = { type: 'string', pattern: '^[0-9a-fA-F]{64}$' }
  const artifact = has({ location: text, sha256: digest, signature: text }, ['location', 'sha256'])
  const format = has({ disk: artifact }, [])
  validate ??= new Ajv({ meta: false, validateSchema: false }).compile<Metadata>(
    has({ architectures: each(has({ artifacts: each(has({ formats: each(format) })) })) }),
  )
  return validate(value)
}

const missing = (url: string, what: string, remedy: string): UserError =>
  new UserError('stream-image', `the stream at ${maskedUrl(url)} has ${what}`, { remedy, kind: 'usage' })
