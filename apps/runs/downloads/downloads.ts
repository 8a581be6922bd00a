import { createHash } from 'node:crypto'
import { constants } from 'node:fs'
import { copyFile, open, rename } from 'node:fs/promises'
import { join } from 'node:path'
import type { StreamArtifact } from '../../../coreos/index.js'
import { decodedFile, digestOfFile } from '../../../base/bytes/index.js'
import {
  defined,
  withClockHeld,
  makeFolder,
  temporaryFolder,
  UserError,
  type Clock,
  type Logger,
  type TemporaryFolder,
} from '../../../base/runtime/index.js'
import type { ImageAsset } from '../../../targets/index.js'
import type { CachedImage, ImageCache } from '../../../steps/index.js'
import { openImageCache, type ImageCacheRequest } from '../../../lab/index.js'
import { mirroredLocation, refuseForbiddenUrls, type DownloadPolicy } from '../../../coreos/index.js'
import { ERRORS } from '../errors.js'

export interface ArtifactDownloadOptions extends DownloadPolicy {
  /** Folder for the files, created if necessary. */
  folder: string
  /** Folder whose files are taken instead of a download where their digests are the published ones. */
  beside?: string
  /** Decompresses `.gz` and `.xz` files, and removes the ending from their names. */
  decompress?: boolean
  cache: ImageCacheRequest
  clock: Clock
  logger: Logger
  signal: AbortSignal
  onProgress?: (artifact: StreamArtifact, received: number, total: number | null) => void
}

export interface Download {
  path: string
  /** SHA-256 of the file at `path`. */
  sha256: string
  /** Signer of the published file; null without a signature. */
  signedBy: string | null
  /** The complete file already existed. */
  already: boolean
}

/**
 * Downloads published files or takes them from the image cache, verifies digest and signature, and writes them to a
 * folder under their own names. Broken downloads are resumed. A file is written completely or not at all.
 *
 * @throws UserError as {@link ImageCache.get} does; image-digest, image-signature, offline, outside-mirror, http-refused
 */
export async function downloadArtifacts(
  artifacts: readonly StreamArtifact[],
  options: ArtifactDownloadOptions,
): Promise<Download[]> {
  const { cache: request, clock, logger } = options
  await using temporary = request.folder === null ? await temporaryBeside(options) : null
  const folder = request.folder ?? temporary!.path
  const own = { ...request, folder, as: 'fetched' as const, allow: refuseForbiddenUrls(options) }
  const cache = await openImageCache(own, { clock, logger })
  const done: Download[] = []
  for (const artifact of artifacts) done.push(await downloadOne(artifact, cache, options))
  return done
}

async function temporaryBeside({ folder }: ArtifactDownloadOptions): Promise<TemporaryFolder> {
  await makeFolder(folder)
  return temporaryFolder(folder)
}

async function downloadOne(
  artifact: StreamArtifact,
  cache: ImageCache,
  options: ArtifactDownloadOptions,
): Promise<Download> {
  const { folder, decompress = false, clock, signal, insecure = false, onProgress } = options
  const name = fileName(artifact.location)
  const packed = decompress && /(?<!\.tar)\.(gz|xz)$/.test(name)
  const path = join(folder, packed ? name.replace(/\.(gz|xz)$/, '') : name)
  const wanted = packed ? artifact['uncompressed-sha256'] : artifact.sha256
  if (!artifact.signature && wanted !== undefined && (await fileDigestOf(path, clock, signal)) === wanted)
    return { path, sha256: wanted, signedBy: null, already: true }
  const asset: ImageAsset = {
    url: mirroredLocation(artifact.location, options),
    sha256: artifact.sha256,
    signature: artifact.signature && !insecure ? 'required' : 'where present',
    ...defined({ signatureUrl: artifact.signature ? mirroredLocation(artifact.signature, options) : undefined }),
    of: 'anything',
  }
  const nearby = packed ? null : await copiedFrom(artifact, path, options)
  if (nearby) return nearby
  const progress = (received: number, total: number | null) => onProgress?.(artifact, received, total)
  await using image = await cache.get(asset, { signal, onProgress: progress })
  const signedBy = image.record.verified.signed?.by ?? null
  if (wanted !== undefined && (await fileDigestOf(path, clock, signal)) === wanted)
    return { path, sha256: wanted, signedBy, already: true }
  await makeFolder(folder)
  await using beside = await temporaryFolder(folder)
  const part = join(beside.path, 'part')
  const found = packed ? await unpack(image, part, options) : await copy(image, part, options)
  if (wanted !== undefined && found !== wanted)
    throw new UserError(
      'image-digest',
      `checksum mismatch for ${artifact.location}; expected=${wanted} found=${found}`,
      { remedy: 'look for damage with: ironstage cache verify' },
    )
  await withClockHeld(clock, `naming ${path}`, () => rename(part, path))
  return { path, sha256: found, signedBy, already: false }
}

/** Copies a published file without a signature from the folder beside; null where it has none, or another one. */
async function copiedFrom(
  { location, signature, sha256 }: StreamArtifact,
  path: string,
  { beside, folder, insecure = false, clock, signal }: ArtifactDownloadOptions,
): Promise<Download | null> {
  if (beside === undefined || (signature && !insecure)) return null
  const from = join(beside, fileName(location))
  if ((await fileDigestOf(from, clock, signal)) !== sha256) return null
  await makeFolder(folder)
  await using temporary = await temporaryFolder(folder)
  const part = join(temporary.path, 'part')
  await withClockHeld(clock, `copying ${from}`, () => copyFile(from, part, constants.COPYFILE_FICLONE))
  await withClockHeld(clock, `naming ${path}`, () => rename(part, path))
  return { path, sha256, signedBy: null, already: false }
}

/** @throws UserError `metadata-schema` for a URL without a file name */
export function fileName(location: string): string {
  const name = decodeURIComponent(new URL(location).pathname.split('/').at(-1) ?? '')
  if (/^[^/\0]+$/.test(name) && name !== '.' && name !== '..') return name
  throw new UserError('metadata-schema', `${location} names no file`, { remedy: 'correct the stream metadata' })
}

async function copy({ path, record }: CachedImage, to: string, options: ArtifactDownloadOptions): Promise<string> {
  if (record.transcoded) {
    const form = 'as' in record.transcoded ? record.transcoded.as : 'zstd'
    throw new UserError('image-transcoded', `the cache stores ${record.sources[0] ?? record.sha256} as ${form} only`, {
      remedy: ERRORS['image-transcoded'].remedy,
    })
  }
  await withClockHeld(options.clock, `copying ${path}`, () => copyFile(path, to, constants.COPYFILE_FICLONE))
  return (await fileDigestOf(to, options.clock, options.signal)) ?? ''
}

async function unpack({ path }: CachedImage, to: string, { clock, signal }: ArtifactDownloadOptions): Promise<string> {
  const hash = createHash('sha256')
  const file = await open(to, 'w')
  try {
    for await (const part of decodedFile(path, clock)) {
      signal.throwIfAborted()
      hash.update(part)
      await withClockHeld(clock, `writing ${to}`, () => file.writeFile(part))
    }
  } finally {
    await file.close()
  }
  return hash.digest('hex')
}

/** SHA-256 of a file; null when it does not exist. */
async function fileDigestOf(path: string, clock: Clock, signal: AbortSignal): Promise<string | null> {
  try {
    return await digestOfFile(path, clock, { signal })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}
