import { defined, isObject, readNested, UserError } from '../../runtime/index.js'
import { isDigest } from '../digest.js'
import { ERRORS } from '../errors.js'

/** Content by its digest, as a manifest refers to it. */
export interface Descriptor {
  mediaType: string
  digest: string
  size: number
  platform?: ImagePlatform
  annotations?: Readonly<Record<string, string>>
}

/** As Go names them: `linux`, `amd64`. */
interface ImagePlatform {
  os: string
  architecture: string
  variant?: string
}

export interface ImageManifest {
  kind: 'image'
  config: Descriptor
  /** Lowest first. */
  layers: readonly Descriptor[]
}

/** One image for each platform. */
export interface ImageIndex {
  kind: 'index'
  manifests: readonly Descriptor[]
}

export type OciManifest = ImageManifest | ImageIndex

export const MEDIA_TYPES = {
  index: 'application/vnd.oci.image.index.v1+json',
  manifest: 'application/vnd.oci.image.manifest.v1+json',
  config: 'application/vnd.oci.image.config.v1+json',
  layer: 'application/vnd.oci.image.layer.v1.tar+gzip',
  dockerList: 'application/vnd.docker.distribution.manifest.list.v2+json',
  dockerManifest: 'application/vnd.docker.distribution.manifest.v2+json',
} as const

/** In the order in which registries should choose. */
export const ACCEPTED = [MEDIA_TYPES.index, MEDIA_TYPES.manifest, MEDIA_TYPES.dockerList, MEDIA_TYPES.dockerManifest]

/** As containers/image has it: 4 MiB. */
export const MAX_MANIFEST_BYTES = 4 * 2 ** 20

/** Docker's own limit is 127. */
const MAX_MANIFEST_LAYERS = 500
const MAX_INDEX_MANIFESTS = 500

/**
 * Reads a manifest: OCI or Docker's v2 schema 2, an image or an index of images.
 *
 * @param type media type that the registry says; what the manifest says counts more
 * @throws UserError `image-manifest`
 */
export function readManifest(bytes: Uint8Array, type: string | undefined, name: string): OciManifest {
  const value = jsonObject(bytes, name)
  const wrong = (what: string) => badManifest(name, what)
  const { schemaVersion, mediaType = type, manifests, config, layers } = value
  if (schemaVersion === 1)
    throw new UserError('image-manifest', `${name} is in Docker's schema 1, which has no digests`, {
      remedy: 'copy the image with skopeo copy --format v2s2',
    })
  if (schemaVersion !== 2) throw wrong(`its schemaVersion is ${quoteManifestValue(schemaVersion)}, not 2`)
  // Such a manifest could be one image to us and another to others (CVE-2021-41190).
  if (manifests !== undefined && (config !== undefined || layers !== undefined))
    throw wrong('it is an index and an image at once')
  const isIndex = mediaType === MEDIA_TYPES.index || mediaType === MEDIA_TYPES.dockerList
  const isImage = mediaType === MEDIA_TYPES.manifest || mediaType === MEDIA_TYPES.dockerManifest
  if (value['mediaType'] !== undefined && !isIndex && !isImage)
    throw wrong(`its media type is ${quoteManifestValue(mediaType)}`)
  if (isIndex ? manifests === undefined : isImage && manifests !== undefined)
    throw wrong(`its media type is ${quoteManifestValue(mediaType)}, its form another`)
  if (manifests !== undefined)
    return { kind: 'index', manifests: descriptors(manifests, 'manifests', MAX_INDEX_MANIFESTS, wrong) }
  return {
    kind: 'image',
    config: descriptor(config, 'config', wrong),
    layers: descriptors(layers, 'layers', MAX_MANIFEST_LAYERS, wrong),
  }
}

export const badManifest = (name: string, what: string): UserError =>
  new UserError('image-manifest', `${name} has a manifest that cannot be used: ${what}`, {
    remedy: ERRORS['image-manifest'].remedy,
  })

/** @throws UserError `image-manifest` */
export function jsonObject(bytes: Uint8Array, name: string): Record<string, unknown> {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    const value: unknown = readNested(text, name, (json) => JSON.parse(json) as unknown)
    if (isObject(value)) return value
  } catch (cause) {
    if (cause instanceof UserError) throw cause
  }
  throw badManifest(name, 'it is not a JSON object')
}

type ManifestRefusal = (what: string) => UserError

function descriptors(value: unknown, of: string, most: number, wrong: ManifestRefusal): Descriptor[] {
  if (!Array.isArray(value)) throw wrong(`it has no list of ${of}`)
  if (value.length > most) throw wrong(`it has more than ${most} ${of}`)
  return value.map((one, index) => descriptor(one, `${of}[${index}]`, wrong))
}

function descriptor(value: unknown, at: string, wrong: ManifestRefusal): Descriptor {
  if (!isObject(value)) throw wrong(`it has no ${at}`)
  const { mediaType, digest, size, platform, annotations } = value
  if (typeof mediaType !== 'string') throw wrong(`${at} has no mediaType`)
  if (typeof digest !== 'string' || !isDigest(digest))
    throw wrong(`the digest of ${at} is ${quoteManifestValue(digest)}`)
  if (typeof size !== 'number' || !Number.isSafeInteger(size) || size < 0)
    throw wrong(`the size of ${at} is ${quoteManifestValue(size)}`)
  return {
    mediaType,
    digest,
    size,
    ...defined({
      platform: isPlatform(platform) ? platformOf(platform) : undefined,
      annotations: isObject(annotations) ? textsOf(annotations) : undefined,
    }),
  }
}

const isPlatform = (value: unknown): value is { os: string; architecture: string; variant?: unknown } =>
  isObject(value) && typeof value['os'] === 'string' && typeof value['architecture'] === 'string'

const platformOf = ({
  os,
  architecture,
  variant,
}: {
  os: string
  architecture: string
  variant?: unknown
}): ImagePlatform => ({
  os,
  architecture,
  ...defined({ variant: typeof variant === 'string' ? variant : undefined }),
})

/** The members that are texts. */
export const textsOf = (value: Record<string, unknown>): Record<string, string> =>
  Object.fromEntries(Object.entries(value).filter((entry): entry is [string, string] => typeof entry[1] === 'string'))

const quoteManifestValue = (value: unknown): string =>
  value === undefined ? 'missing' : (JSON.stringify(value) ?? '?').slice(0, 80)
