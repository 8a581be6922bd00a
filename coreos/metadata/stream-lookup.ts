import { UserError } from '../../base/runtime/index.js'
import type { StreamArtifact, ImageFileName, ImageFormat } from './artifact.js'
import type { RegionImage, RegionObject, StreamMetadata, StreamArchitecture } from './stream-metadata.js'

const streamArtifactError = (message: string, remedy: string): UserError =>
  new UserError('stream-artifact', message, { remedy, kind: 'usage' })

const available = (names: readonly string[]): string => `it has ${names.join(', ') || 'none'}`

/** Looks up a name from the user, so that `constructor` finds nothing. */
const lookUpOwn = <T>(map: Readonly<Record<string, T>> | undefined, name: string): T | undefined =>
  map && Object.hasOwn(map, name) ? map[name] : undefined

/** @throws UserError `stream-artifact`, in the words of stream-metadata-go */
export function findArchitecture(stream: StreamMetadata, architecture: string): StreamArchitecture {
  const found = lookUpOwn(stream.architectures, architecture)
  if (found) return found
  const why = `stream:${stream.stream} does not have architecture '${architecture}'`
  throw streamArtifactError(why, available(Object.keys(stream.architectures)))
}

/** Files of an image in one format. */
export function imageFormat(
  stream: StreamMetadata,
  architecture: string,
  platform: string,
  format: string,
): ImageFormat {
  const { artifacts } = findArchitecture(stream, architecture)
  const of = `${stream.stream}/${architecture}: artifact '${platform}'`
  const found = lookUpOwn(artifacts, platform)
  if (!found) throw streamArtifactError(`${of} not found`, available(Object.keys(artifacts)))
  const files = lookUpOwn(found.formats, format)
  if (files) return files
  throw streamArtifactError(`${of} format '${format}' not found`, available(Object.keys(found.formats)))
}

/**
 * Looks up an image of one file.
 *
 * @throws UserError `stream-artifact`, in the words of stream-metadata-go
 *
 * @example
 * import { readFileSync } from 'node:fs'
 * import { streamDisk, readMetadata } from 'ironstage/coreos'
 *
 * const metadata = readMetadata(readFileSync('stable.json', 'utf8'), 'stable.json')
 * if (metadata.kind === 'stream') console.log(streamDisk(metadata.value, 'x86_64', 'metal', 'iso').sha256)
 */
export function findDiskArtifact(
  stream: StreamMetadata,
  architecture: string,
  platform: string,
  format: string,
): StreamArtifact {
  const of = `${stream.stream}/${architecture}: artifact '${platform}'`
  const platforms = findArchitecture(stream, architecture).artifacts
  const formats = lookUpOwn(platforms, platform)?.formats
  if (!formats) throw streamArtifactError(`${of} not found`, available(Object.keys(platforms)))
  const found = lookUpOwn(formats, format)?.disk
  if (found) return found
  throw streamArtifactError(`${of} format '${format}' disk not found`, available(Object.keys(formats)))
}

/**
 * The release of a stream for a platform.
 *
 * @example
 * import { readFileSync } from 'node:fs'
 * import { releaseOf, readMetadata } from 'ironstage/coreos'
 *
 * const metadata = readMetadata(readFileSync('stable.json', 'utf8'), 'stable.json')
 * if (metadata.kind === 'stream') console.log(releaseOf(metadata.value, 'x86_64', 'metal'))
 */
export function releaseOf(stream: StreamMetadata, architecture: string, platform = 'metal'): string {
  const { artifacts } = findArchitecture(stream, architecture)
  const found = lookUpOwn(artifacts, platform)
  if (found) return found.release
  const why = `${stream.stream}/${architecture}: artifact '${platform}' not found`
  throw streamArtifactError(why, available(Object.keys(artifacts)))
}

/** The live images of an architecture. */
export interface LiveFiles {
  release: string
  iso: StreamArtifact
  kernel: StreamArtifact
  initramfs: StreamArtifact
  rootfs: StreamArtifact
}

/**
 * Looks up the live ISO of an architecture, and the files for a network boot.
 *
 * @example
 * import { readFileSync } from 'node:fs'
 * import { liveFiles, readMetadata } from 'ironstage/coreos'
 *
 * const metadata = readMetadata(readFileSync('stable.json', 'utf8'), 'stable.json')
 * if (metadata.kind === 'stream') console.log(liveFiles(metadata.value, 'x86_64').iso.location)
 */
export function liveFiles(stream: StreamMetadata, architecture: string): LiveFiles {
  const pxe = imageFormat(stream, architecture, 'metal', 'pxe')
  const file = (name: ImageFileName): StreamArtifact => {
    const found = pxe[name]
    if (found) return found
    const why = `${stream.stream}/${architecture}: artifact 'metal' format 'pxe' ${name} not found`
    throw streamArtifactError(why, available(Object.keys(pxe)))
  }
  return {
    release: releaseOf(stream, architecture),
    iso: findDiskArtifact(stream, architecture, 'metal', 'iso'),
    kernel: file('kernel'),
    initramfs: file('initramfs'),
    rootfs: file('rootfs'),
  }
}

const CLOUDS = { aws: 'AWS', aliyun: 'Aliyun', ibmcloud: 'IBMCloud', powervs: 'PowerVS' } as const
export type RegionalCloud = keyof typeof CLOUDS

/** Looks up the image of a cloud in a region. */
export function cloudImage(
  stream: StreamMetadata,
  architecture: string,
  cloud: RegionalCloud,
  region: string,
): RegionImage | RegionObject {
  const { images = {} } = findArchitecture(stream, architecture)
  const of = `${stream.stream}/${architecture}: No ${CLOUDS[cloud]} images`
  const regions = images[cloud]?.regions
  if (!regions) throw streamArtifactError(of, available(Object.keys(images)))
  const found = lookUpOwn<RegionImage | RegionObject>(regions, region)
  if (found) return found
  throw streamArtifactError(`${of} in region ${region}`, available(Object.keys(regions)))
}

/**
 * Looks up the AMI of a region.
 *
 * @throws UserError `stream-artifact`: `rhcos-4.8/x86_64: No AWS images in region mars-1`
 *
 * @example
 * import { readFileSync } from 'node:fs'
 * import { ami, readMetadata } from 'ironstage/coreos'
 *
 * const metadata = readMetadata(readFileSync('stable.json', 'utf8'), 'stable.json')
 * if (metadata.kind === 'stream') console.log(ami(metadata.value, 'x86_64', 'us-east-1'))
 */
export function ami(stream: StreamMetadata, architecture: string, region: string): string {
  return (cloudImage(stream, architecture, 'aws', region) as RegionImage).image
}
