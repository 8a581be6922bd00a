import type { SchemaObject } from 'ajv'
import { formatSchema, type ImageFormat } from './artifact.js'
import { documentKind, each, object, TEXT, TIME } from './document.js'

/** Stream metadata of Fedora, RHEL and Stream CoreOS: the current images of every architecture. */
export interface Stream {
  stream: string
  metadata: { 'last-modified': string; generator?: string }
  architectures: Record<string, StreamArchitecture>
}

/** The images of an architecture. */
export interface StreamArchitecture {
  artifacts: Record<string, PlatformArtifacts>
  images?: CloudImages
  'rhel-coreos-extensions'?: Extensions
}

/** The images of a platform. */
export interface PlatformArtifacts {
  release: string
  formats: Record<string, ImageFormat>
}

/** An image of a cloud in a region. */
export interface RegionImage {
  release: string
  image: string
}

/** An image in the object storage of a cloud in a region. */
export interface RegionObject {
  release: string
  object: string
  bucket: string
  url: string
}

/** Images that are already in clouds. */
export interface CloudImages {
  aliyun?: { regions?: Record<string, RegionImage> }
  aws?: { regions?: Record<string, RegionImage> }
  gcp?: { release: string; project: string; family?: string; name: string }
  ibmcloud?: { regions?: Record<string, RegionObject> }
  kubevirt?: RegionImage & { 'digest-ref': string }
  powervs?: { regions?: Record<string, RegionObject> }
}

/** Fields that only RHEL CoreOS has. */
export interface Extensions {
  'aws-winli'?: { regions?: Record<string, RegionImage> }
  'azure-disk'?: { release: string; url?: string }
  marketplace?: unknown
}

const image = object({ release: TEXT, image: TEXT })
const regions = (one: SchemaObject) => object({ regions: each(one) }, [])
const objects = regions(object({ release: TEXT, object: TEXT, bucket: TEXT, url: TEXT }))

export const STREAM = documentKind<Stream>(
  'stream metadata',
  object({
    stream: TEXT,
    metadata: object({ 'last-modified': TIME, generator: TEXT }, ['last-modified']),
    architectures: each(
      object(
        {
          artifacts: each(object({ release: TEXT, formats: each(formatSchema) })),
          images: object(
            {
              aliyun: regions(image),
              aws: regions(image),
              ibmcloud: objects,
              powervs: objects,
              gcp: object({ release: TEXT, project: TEXT, name: TEXT }),
              kubevirt: object({ release: TEXT, image: TEXT, 'digest-ref': TEXT }),
            },
            [],
          ),
          'rhel-coreos-extensions': object(
            { 'aws-winli': regions(image), 'azure-disk': object({ release: TEXT }), marketplace: { type: 'object' } },
            [],
          ),
        },
        ['artifacts'],
      ),
    ),
  }),
)
