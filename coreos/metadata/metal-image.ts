import { FetchFailure, maskedUrl, type HttpClient } from '../../base/bytes/index.js'
import { checkNesting, UserError, defined } from '../../base/runtime/index.js'
import type { StreamArtifact } from './artifact.js'
import { STREAM_KIND, type StreamMetadata } from './stream-metadata.js'
import { ERRORS } from '../errors.js'

/** Base URL of Fedora's streams, as in coreos-installer 0.27.0 src/source.rs. */
export const FEDORA_STREAMS = 'https://builds.coreos.fedoraproject.org/streams/'

export interface MetalImageRequest {
  /** Name of a Fedora CoreOS stream, or the URL of stream metadata. */
  stream: string
  /** As printed by `uname -m`. */
  architecture: string
  /** Sector size of the disk, 512 or 4096. */
  sectorSize: number
}

/** A metal image, with all that is needed to check it. */
export interface MetalImage {
  url: string
  /** Lower-case hex digits. */
  sha256: string
  signature: 'where present'
  signatureUrl?: string
}

/** Largest metadata, in bytes; Fedora's has 50 KiB. */
const MAX_METADATA_BYTES = 4 * 2 ** 20

/**
 * The current metal image of a stream, with the digest of its metadata, which coreos-installer itself never checks.
 *
 * @throws UserError: stream-unreachable, stream-metadata, stream-image
 */
export async function imageOfStream(
  http: HttpClient,
  request: MetalImageRequest,
  signal: AbortSignal,
): Promise<MetalImage> {
  const { stream } = request
  const url = /^https?:\/\//.test(stream) ? stream : `${FEDORA_STREAMS}${encodeURIComponent(stream)}.json`
  return metalImageOf(parseMetalStream(await fetchStreamText(http, url, signal), url), request, url)
}

/**
 * The metal image of stream metadata.
 *
 * @param name of the metadata, for messages
 * @throws UserError: stream-image
 */
export function metalImageOf(
  { architectures }: StreamMetadata,
  { architecture, sectorSize }: Omit<MetalImageRequest, 'stream'>,
  name: string,
): MetalImage {
  const found = Object.hasOwn(architectures, architecture) ? architectures[architecture] : undefined
  const formats = found?.artifacts['metal']?.formats
  if (!formats) {
    const known = Object.keys(architectures).filter((other) => architectures[other]?.artifacts['metal'])
    throw streamImageError(
      name,
      `no metal image for ${architecture}`,
      `it has some for ${known.join(', ') || 'no architecture'}`,
    )
  }
  // Fedora CoreOS uses xz, RHEL CoreOS gzip.
  const prefix = sectorSize === 4096 ? '4k.' : ''
  const disk = ['raw.xz', 'raw.gz', 'raw.zst', 'raw'].flatMap((format) => formats[prefix + format]?.disk ?? [])[0]
  if (!disk)
    throw streamImageError(
      name,
      `no image for sectors of ${sectorSize} bytes`,
      `it has ${Object.keys(formats).join(', ')}`,
    )
  return {
    url: disk.location,
    sha256: disk.sha256,
    signature: 'where present',
    ...defined({ signatureUrl: disk.signature || undefined }),
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
      return (await answer.bytes(MAX_METADATA_BYTES)).toString('utf8')
    } finally {
      await answer.close()
    }
  } catch (error) {
    throw error instanceof FetchFailure ? unreachable(error) : error
  }
}

function parseMetalStream(text: string, url: string): StreamMetadata {
  try {
    const value: unknown = JSON.parse(text, (_, member: unknown) =>
      isArtifact(member) ? resolveArtifact(member, url) : member,
    )
    checkNesting(value, 'the stream metadata')
    return STREAM_KIND.check(value, maskedUrl(url))
  } catch (cause) {
    throw new UserError('stream-metadata', `${maskedUrl(url)} is not stream metadata`, {
      cause,
      remedy: ERRORS['stream-metadata'].remedy,
    })
  }
}

const isArtifact = (member: unknown): member is StreamArtifact =>
  typeof member === 'object' &&
  member !== null &&
  ['location', 'sha256'].every((key) => typeof (member as Record<string, unknown>)[key] === 'string')

/** The artifact with an absolute URL and a digest in lower case: a mirror may write both otherwise. */
function resolveArtifact(artifact: StreamArtifact, url: string): StreamArtifact {
  const { location, sha256, signature } = artifact
  const at = (where: string) => (URL.canParse(where, url) ? new URL(where, url).href : where)
  return {
    ...artifact,
    location: at(location),
    sha256: sha256.toLowerCase(),
    ...defined({ signature: signature ? at(signature) : undefined }),
  }
}

const streamImageError = (url: string, what: string, remedy: string): UserError =>
  new UserError('stream-image', `the stream at ${maskedUrl(url)} has ${what}`, { remedy, kind: 'usage' })
