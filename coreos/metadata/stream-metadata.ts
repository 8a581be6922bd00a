import type { SchemaObject } from 'ajv'
import { formatSchema, type ImageFormat } from './artifact.js'
import {
  documentKind,
  metadataMapSchema,
  metadataObjectSchema,
  METADATA_TEXT_SCHEMA,
  TIME_SCHEMA,
} from './metadata-document.js'

/** Stream metadata of Fedora, RHEL and Stream CoreOS: the current images of every architecture. */
export interface StreamMetadata {
  stream: string
  metadata: { 'last-modified': string; generator?: string }
  architectures: Record<string, StreamArchitecture>
}

/** The images of an architecture. */
export interface StreamArchitecture {
  artifacts: Record<string, PlatformArtifacts>
  images?: CloudImages
  'rhel-coreos-extensions'?: RhcosExtensions
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
  /** Builds of before 2020 name no project. */
  gcp?: { release: string; project?: string; family?: string; name: string }
  ibmcloud?: { regions?: Record<string, RegionObject> }
  kubevirt?: RegionImage & { 'digest-ref': string }
  powervs?: { regions?: Record<string, RegionObject> }
}

/** Fields that only RHEL CoreOS has. */
export interface RhcosExtensions {
  'aws-winli'?: { regions?: Record<string, RegionImage> }
  'azure-disk'?: { release: string; url?: string }
  marketplace?: unknown
}

const image = metadataObjectSchema({ release: METADATA_TEXT_SCHEMA, image: METADATA_TEXT_SCHEMA })
const regions = (one: SchemaObject) => metadataObjectSchema({ regions: metadataMapSchema(one) }, [])
const objects = regions(
  metadataObjectSchema({
    release: METADATA_TEXT_SCHEMA,
    object: METADATA_TEXT_SCHEMA,
    bucket: METADATA_TEXT_SCHEMA,
    url: METADATA_TEXT_SCHEMA,
  }),
)

export const STREAM_KIND = documentKind<StreamMetadata>(
  'stream metadata',
  metadataObjectSchema({
    stream: METADATA_TEXT_SCHEMA,
    metadata: metadataObjectSchema({ 'last-modified': TIME_SCHEMA, generator: METADATA_TEXT_SCHEMA }, [
      'last-modified',
    ]),
    architectures: metadataMapSchema(
      metadataObjectSchema(
        {
          artifacts: metadataMapSchema(
            metadataObjectSchema({ release: METADATA_TEXT_SCHEMA, formats: metadataMapSchema(formatSchema) }),
          ),
          images: metadataObjectSchema(
            {
              aliyun: regions(image),
              aws: regions(image),
              ibmcloud: objects,
              powervs: objects,
              gcp: metadataObjectSchema(
                { release: METADATA_TEXT_SCHEMA, project: METADATA_TEXT_SCHEMA, name: METADATA_TEXT_SCHEMA },
                ['release', 'name'],
              ),
              kubevirt: metadataObjectSchema({
                release: METADATA_TEXT_SCHEMA,
                image: METADATA_TEXT_SCHEMA,
                'digest-ref': METADATA_TEXT_SCHEMA,
              }),
            },
            [],
          ),
          'rhel-coreos-extensions': metadataObjectSchema(
            {
              'aws-winli': regions(image),
              'azure-disk': metadataObjectSchema({ release: METADATA_TEXT_SCHEMA }),
              marketplace: { type: 'object' },
            },
            [],
          ),
        },
        ['artifacts'],
      ),
    ),
  }),
)
