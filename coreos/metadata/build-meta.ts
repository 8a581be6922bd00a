import {
  documentKind,
  metadataMapSchema,
  metadataListSchema,
  metadataObjectSchema,
  SHA256,
  METADATA_TEXT_SCHEMA,
} from './metadata-document.js'

/** A file that a build created. */
export interface BuildArtifact {
  path: string
  sha256: string
  /** Bytes. */
  size?: number
  'uncompressed-sha256'?: string
  'uncompressed-size'?: number
  'skip-compression'?: boolean
}

/** A container image that a build pushed. */
export interface BuildContainer {
  image: string
  digest?: string
  tags?: string[]
}

/** coreos-assembler's `meta.json`: results of a build for one architecture. `bootimage.json` has the same form. */
export interface BuildMeta {
  buildid: string
  name: string
  'ostree-commit': string
  'ostree-timestamp': string
  'ostree-version': string
  'coreos-assembler.basearch'?: string
  'coreos-assembler.container-config-git'?: { branch?: string; commit: string; origin: string }
  'coreos-assembler.oci-imported'?: boolean
  'coreos-assembler.oci-imported-labels'?: Record<string, string>
  images?: Record<string, BuildArtifact>
  amis?: { name: string; hvm: string; snapshot?: string }[]
  'aws-winli'?: { name: string; hvm: string }[]
  aliyun?: { name: string; id: string }[]
  gcp?: { image: string; project?: string; family?: string; url: string }
  ibmcloud?: BuildObject[]
  powervs?: BuildObject[]
  azure?: { image?: string; url: string }
  kubevirt?: BuildContainer
  /** The base system, without a cluster's additions. */
  'base-oscontainer'?: BuildContainer
  /** The system of a cluster's nodes, derived from the base if there is one. */
  oscontainer?: BuildContainer
}

/** An image in object storage. */
export interface BuildObject {
  region: string
  object: string
  bucket: string
  url: string
}

const container = metadataObjectSchema(
  { image: METADATA_TEXT_SCHEMA, digest: METADATA_TEXT_SCHEMA, tags: metadataListSchema(METADATA_TEXT_SCHEMA) },
  ['image'],
)
const objects = metadataListSchema(
  metadataObjectSchema({
    region: METADATA_TEXT_SCHEMA,
    object: METADATA_TEXT_SCHEMA,
    bucket: METADATA_TEXT_SCHEMA,
    url: METADATA_TEXT_SCHEMA,
  }),
)
const artifact = metadataObjectSchema(
  {
    path: METADATA_TEXT_SCHEMA,
    sha256: SHA256,
    size: { type: 'number' },
    'uncompressed-sha256': SHA256,
    'uncompressed-size': { type: 'number' },
    'skip-compression': { type: 'boolean' },
  },
  ['path', 'sha256'],
)
/** Images of a build: missing in a build without bootable images, otherwise at least the tree itself. */
const images = { ...metadataMapSchema(artifact), anyOf: [{ required: ['ostree'] }, { required: ['oci-manifest'] }] }

export const BUILD_META = documentKind<BuildMeta>(
  'build metadata',
  metadataObjectSchema(
    {
      buildid: METADATA_TEXT_SCHEMA,
      name: METADATA_TEXT_SCHEMA,
      'ostree-commit': METADATA_TEXT_SCHEMA,
      'ostree-timestamp': METADATA_TEXT_SCHEMA,
      'ostree-version': METADATA_TEXT_SCHEMA,
      'coreos-assembler.basearch': METADATA_TEXT_SCHEMA,
      'coreos-assembler.container-config-git': metadataObjectSchema(
        { branch: METADATA_TEXT_SCHEMA, commit: METADATA_TEXT_SCHEMA, origin: METADATA_TEXT_SCHEMA },
        ['commit', 'origin'],
      ),
      'coreos-assembler.oci-imported': { type: 'boolean' },
      'coreos-assembler.oci-imported-labels': { type: 'object' },
      images,
      amis: metadataListSchema(
        metadataObjectSchema(
          { name: METADATA_TEXT_SCHEMA, hvm: METADATA_TEXT_SCHEMA, snapshot: METADATA_TEXT_SCHEMA },
          ['name', 'hvm'],
        ),
      ),
      'aws-winli': metadataListSchema(metadataObjectSchema({ name: METADATA_TEXT_SCHEMA, hvm: METADATA_TEXT_SCHEMA })),
      aliyun: metadataListSchema(metadataObjectSchema({ name: METADATA_TEXT_SCHEMA, id: METADATA_TEXT_SCHEMA })),
      gcp: metadataObjectSchema(
        {
          image: METADATA_TEXT_SCHEMA,
          project: METADATA_TEXT_SCHEMA,
          family: METADATA_TEXT_SCHEMA,
          url: METADATA_TEXT_SCHEMA,
        },
        ['image', 'url'],
      ),
      ibmcloud: objects,
      powervs: objects,
      azure: metadataObjectSchema({ image: METADATA_TEXT_SCHEMA, url: METADATA_TEXT_SCHEMA }, ['url']),
      kubevirt: container,
      'base-oscontainer': container,
      oscontainer: container,
    },
    ['buildid', 'name', 'ostree-commit', 'ostree-timestamp', 'ostree-version'],
  ),
)

/** Container images of a build: the one in its disk images, and the one that nodes pivot to. */
export interface OsImages {
  base: string | null
  derived: string | null
}

/** Pull specifications by digest, since a tag may move. */
export function osImages(meta: BuildMeta): OsImages {
  const spec = (one: BuildContainer | undefined) =>
    one === undefined
      ? null
      : one.digest === undefined
        ? one.image
        : `${one.image.replace(/:[^:/]*$/, '')}@${one.digest}`
  return { base: spec(meta['base-oscontainer']), derived: spec(meta.oscontainer) }
}
