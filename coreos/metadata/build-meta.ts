import { documentKind, each, list, object, SHA256, TEXT } from './document.js'

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
  gcp?: { image: string; project: string; family?: string; url: string }
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

const container = object({ image: TEXT, digest: TEXT, tags: list(TEXT) }, ['image'])
const objects = list(object({ region: TEXT, object: TEXT, bucket: TEXT, url: TEXT }))
const artifact = object(
  {
    path: TEXT,
    sha256: SHA256,
    size: { type: 'number' },
    'uncompressed-sha256': SHA256,
    'uncompressed-size': { type: 'number' },
    'skip-compression': { type: 'boolean' },
  },
  ['path', 'sha256'],
)
/** Images of a build: missing in a build without bootable images, otherwise at least the tree itself. */
const images = { ...each(artifact), anyOf: [{ required: ['ostree'] }, { required: ['oci-manifest'] }] }

export const BUILD_META = documentKind<BuildMeta>(
  'build metadata',
  object(
    {
      buildid: TEXT,
      name: TEXT,
      'ostree-commit': TEXT,
      'ostree-timestamp': TEXT,
      'ostree-version': TEXT,
      'coreos-assembler.basearch': TEXT,
      'coreos-assembler.container-config-git': object({ branch: TEXT, commit: TEXT, origin: TEXT }, [
        'commit',
        'origin',
      ]),
      'coreos-assembler.oci-imported': { type: 'boolean' },
      'coreos-assembler.oci-imported-labels': { type: 'object' },
      images,
      amis: list(object({ name: TEXT, hvm: TEXT, snapshot: TEXT }, ['name', 'hvm'])),
      'aws-winli': list(object({ name: TEXT, hvm: TEXT })),
      aliyun: list(object({ name: TEXT, id: TEXT })),
      gcp: object({ image: TEXT, project: TEXT, family: TEXT, url: TEXT }, ['image', 'url']),
      ibmcloud: objects,
      powervs: objects,
      azure: object({ image: TEXT, url: TEXT }, ['url']),
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
