import { createHash } from 'node:crypto'
import { mkdir, readFile, rename, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { HttpClient, type HttpClientOptions } from '../../bytes/index.js'
import {
  readMetadata,
  readReleaseImage,
  refuseOlderStream,
  STREAM,
  streamNamed,
  streamOfBuilds,
  type Stream,
} from '../../coreos/index.js'
import { held, temporaryFolder, UserError, type Clock } from '../../runtime/index.js'
import { FEDORA_STREAMS, fetchStreamText } from '../../steps/index.js'
import { allowed, type Reach } from '../../coreos/index.js'

export interface StreamRequest extends Reach {
  /**
   * Name of a stream, URL of its metadata, or path of a file: stream metadata or a `coreos-bootimages` ConfigMap, of which
   * `#NAME` picks one; or path of a folder with an unpacked release.
   */
  stream: string
  /** Where `NAME.json` is; Fedora's, or `streams/` of the mirror, unless told otherwise. */
  streamBaseUrl?: string
}

export interface StreamSurroundings {
  /** Where metadata is kept for when there is no network; null keeps none. */
  folder: string | null
  fetching: Omit<HttpClientOptions, 'clock' | 'allow'>
  clock: Clock
  signal: AbortSignal
}

/**
 * The stream that is named, wherever it is.
 *
 * @throws UserError: stream-unreachable, metadata-json, metadata-schema, stream-back-in-time, offline, outside-mirror,
 *   http-refused
 */
export async function openStream(request: StreamRequest, surroundings: StreamSurroundings): Promise<Stream> {
  const { stream: named } = request
  if (/^https?:\/\//.test(named)) return fetched(named, request, surroundings)
  if (/[/#]|\.(json|ya?ml)$/.test(named) || named === '.') return fromFile(named, surroundings)
  const base = request.streamBaseUrl ?? (request.mirror === undefined ? FEDORA_STREAMS : below(request.mirror))
  // The base is that of coreos-installer, which joins the two as URLs are joined; forgotten slashes are put in here.
  return fetched(`${base.replace(/\/*$/, '/')}${encodeURIComponent(named)}.json`, request, surroundings)
}

const below = (mirror: string): string => `${mirror.replace(/\/+$/, '')}/streams/`

async function fromFile(named: string, { clock }: StreamSurroundings): Promise<Stream> {
  const [path = '', name] = named.split('#')
  if (await isFolder(path, clock)) return fromRelease(path, name, clock)
  const text = await held(clock, `reading ${path}`, () =>
    readFile(path, 'utf8').catch((cause: unknown) => {
      throw new UserError('metadata-file', `the stream metadata ${path} cannot be read`, {
        cause,
        remedy: 'name a file that you may read',
        kind: 'usage',
      })
    }),
  )
  const found = readMetadata(text, path)
  if (found.kind === 'config-map') return streamNamed(found.value, name)
  return STREAM.check(found.value, path)
}

/** An unpacked release: the ConfigMap, which has names, before the builds. */
async function fromRelease(folder: string, name: string | undefined, clock: Clock): Promise<Stream> {
  const release = await readReleaseImage(folder, clock)
  const stream = release.bootImages ? streamNamed(release.bootImages, name) : streamOfBuilds(release)
  if (stream) return stream
  throw new UserError('stream-name', `${folder} has no stream`, { remedy: 'name another folder', kind: 'usage' })
}

const isFolder = (path: string, clock: Clock): Promise<boolean> =>
  held(clock, `looking at ${path}`, () =>
    stat(path).then(
      (found) => found.isDirectory(),
      () => false,
    ),
  )

async function fetched(url: string, request: StreamRequest, surroundings: StreamSurroundings): Promise<Stream> {
  const { folder, fetching, clock, signal } = surroundings
  const key = createHash('sha256').update(url).digest('hex').slice(0, 32)
  const path = folder === null ? null : join(folder, `${key}.json`)
  const kept = path === null ? null : await keptStream(path, url, clock)
  if (kept && request.offline) return kept
  const http = new HttpClient({ ...fetching, clock, allow: allowed(request) })
  const text = await fetchStreamText(http, url, signal)
  const stream = STREAM.read(text, url)
  if (kept) refuseOlderStream(kept, stream)
  if (folder !== null && path !== null)
    await held(clock, `keeping ${url}`, async () => {
      await mkdir(folder, { recursive: true })
      await using beside = await temporaryFolder(folder)
      await writeFile(join(beside.path, 'stream.json'), text)
      await rename(join(beside.path, 'stream.json'), path)
    })
  return stream
}

/** One that was damaged meanwhile is as good as none. */
async function keptStream(path: string, url: string, clock: Clock): Promise<Stream | null> {
  const text = await held(clock, `reading ${path}`, () => readFile(path, 'utf8').catch(() => null))
  if (text === null) return null
  try {
    return STREAM.read(text, url)
  } catch {
    return null
  }
}
