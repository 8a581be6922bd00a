import { rename, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { HttpClient, type HttpClientOptions, sha256Hex } from '../../../base/bytes/index.js'
import {
  FEDORA_STREAMS,
  fetchStreamText,
  openRelease,
  readMetadata,
  readReleaseImage,
  refuseOlderStream,
  releaseFolder,
  type ReleaseFiles,
  STREAM_KIND,
  streamNamed,
  streamOfBuilds,
  type StreamMetadata,
} from '../../../coreos/index.js'
import { isImagePlace, parsePlace } from '../../../base/registry/index.js'
import {
  withClockHeld,
  makeFolder,
  temporaryFolder,
  UserError,
  type Clock,
  readNamedText,
} from '../../../base/runtime/index.js'
import { openImages, type RegistrySettings } from './open-registry-images.js'
import { refuseForbiddenUrls, type DownloadPolicy } from '../../../coreos/index.js'

export interface StreamRequest extends DownloadPolicy {
  /**
   * Name of a stream; URL of its metadata; path of a file with stream metadata or a `coreos-bootimages` ConfigMap, in which
   * `#NAME` selects a stream; path of a folder with an unpacked release; or a release in a registry or an OCI layout.
   */
  stream: string
  /** How registries are reached. */
  registry?: RegistrySettings
  /** URL of the folder of `NAME.json`; default Fedora's, or `streams/` of the mirror. */
  streamBaseUrl?: string
}

export interface StreamSurroundings {
  /** Folder that caches metadata for offline use; null for no cache. */
  folder: string | null
  fetching: Omit<HttpClientOptions, 'clock' | 'allow'>
  clock: Clock
  signal: AbortSignal
}

/**
 * Reads the requested stream from its URL, file or folder.
 *
 * @throws UserError stream-unreachable, metadata-json, metadata-schema, stream-back-in-time, offline, outside-mirror,
 *   http-refused
 */
export async function openStream(request: StreamRequest, surroundings: StreamSurroundings): Promise<StreamMetadata> {
  const { stream: named } = request
  if (/^https?:\/\//.test(named)) return fetchStream(named, request, surroundings)
  if (isStreamImage(named)) return fromImage(named, request, surroundings)
  if (isStreamFile(named)) return fromFile(named, surroundings)
  const base = request.streamBaseUrl ?? (request.mirror === undefined ? FEDORA_STREAMS : streamsUrlOf(request.mirror))
  // coreos-installer joins base and name as URLs, so its base needs a slash at the end. A missing one is added here.
  return fetchStream(`${base.replace(/\/*$/, '/')}${encodeURIComponent(named)}.json`, request, surroundings)
}

/** Whether a stream is named by a file or folder, and not by its name or URL. */
export const isStreamFile = (named: string): boolean =>
  !/^https?:\/\//.test(named) && !isStreamImage(named) && (/[/#]|\.(json|ya?ml)$/.test(named) || named === '.')

/** Whether a stream is named by a release in a registry or an OCI layout: by `oci:`, or by a host and a tag or digest. */
const isStreamImage = (named: string): boolean => isImagePlace(withoutStream(named)[0])

/** A name, and the stream behind its `#`. */
const withoutStream = (named: string): [name: string, stream: string | undefined] => {
  const [name = '', stream] = named.split('#')
  return [name, stream]
}

const streamsUrlOf = (mirror: string): string => `${mirror.replace(/\/+$/, '')}/streams/`

async function fromFile(named: string, { clock }: StreamSurroundings): Promise<StreamMetadata> {
  const [path, name] = withoutStream(named)
  if (await isFolder(path, clock)) return fromRelease(releaseFolder(path, clock), name)
  const text = await withClockHeld(clock, `reading ${path}`, () =>
    readNamedText(path).catch((cause: unknown) => {
      throw new UserError('metadata-file', `the stream metadata ${path} cannot be read`, {
        cause,
        remedy: 'name a file that you may read',
        kind: 'usage',
      })
    }),
  )
  const found = readMetadata(text, path)
  if (found.kind === 'config-map') return streamNamed(found.value, name)
  return STREAM_KIND.check(found.value, path)
}

async function fromImage(
  named: string,
  request: StreamRequest,
  surroundings: StreamSurroundings,
): Promise<StreamMetadata> {
  const [place, name] = withoutStream(named)
  const images = openImages(request, request.registry, surroundings)
  return fromRelease(await openRelease(images, parsePlace(place)), name)
}

/** Stream of a release. The ConfigMap comes before the builds, since only it has named streams. */
async function fromRelease(files: ReleaseFiles, name: string | undefined): Promise<StreamMetadata> {
  const release = await readReleaseImage(files, 'one source')
  const stream = release.bootImages ? streamNamed(release.bootImages, name) : streamOfBuilds(release)
  if (stream) return stream
  throw new UserError('stream-name', `${files.name} has no stream`, { remedy: 'name another release', kind: 'usage' })
}

const isFolder = (path: string, clock: Clock): Promise<boolean> =>
  withClockHeld(clock, `looking at ${path}`, () =>
    stat(path).then(
      (found) => found.isDirectory(),
      () => false,
    ),
  )

async function fetchStream(
  url: string,
  request: StreamRequest,
  surroundings: StreamSurroundings,
): Promise<StreamMetadata> {
  const { folder, fetching, clock, signal } = surroundings
  const key = sha256Hex(url).slice(0, 32)
  const path = folder === null ? null : join(folder, `${key}.json`)
  const cached = path === null ? null : await cachedStream(path, url, clock)
  if (cached && request.offline) return cached
  const http = new HttpClient({ ...fetching, clock, allow: refuseForbiddenUrls(request) })
  const text = await fetchStreamText(http, url, signal)
  const stream = STREAM_KIND.read(text, url)
  if (cached) refuseOlderStream(cached, stream)
  if (folder !== null && path !== null)
    await withClockHeld(clock, `keeping ${url}`, async () => {
      await makeFolder(folder)
      await using beside = await temporaryFolder(folder)
      await writeFile(join(beside.path, 'stream.json'), text)
      await rename(join(beside.path, 'stream.json'), path)
    })
  return stream
}

/** Cached metadata; null when it does not exist or is damaged. */
async function cachedStream(path: string, url: string, clock: Clock): Promise<StreamMetadata | null> {
  const text = await withClockHeld(clock, `reading ${path}`, () => readNamedText(path).catch(() => null))
  if (text === null) return null
  try {
    return STREAM_KIND.read(text, url)
  } catch {
    return null
  }
}
