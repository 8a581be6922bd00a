import { isDeepStrictEqual } from 'node:util'
import { UserError, defined } from '../../base/runtime/index.js'
import type { StreamArtifact, ImageFileName } from './artifact.js'
import type { BuildArtifact, BuildContainer, BuildMeta } from './build-meta.js'
import type { ContainerImage, PlatformMedia, CoreosRelease, ReleaseArchitecture } from './release-metadata.js'
import { ERRORS } from '../errors.js'

/** URL at which Fedora publishes builds. */
export const FEDORA_BUILDS = 'https://builds.coreos.fedoraproject.org/prod/streams'

/** Options of {@link metaToRelease}. */
export interface ReleaseOptions {
  /** Base URL of builds: `BASE/STREAM/builds/BUILDID/ARCH/path`. */
  baseUrl?: string
  /** Default: the build's own stream. */
  streamName?: string
  /** True if the files have signatures, which RHEL CoreOS has not. */
  signatures?: boolean
}

/** Platforms whose only image is `images.PLATFORM` (coreos-assembler, generate-release-meta). */
const PLATFORMS =
  'aliyun applehv aws azure azurestack digitalocean exoscale gcp hetzner hyperv ibmcloud kubevirt metal nutanix ' +
  'nvidiabluefield openstack oraclecloud proxmoxve powervs qemu virtualbox vmware vultr qemu-secex'

/** Bare metal images with other names: format and file. */
const METAL: Readonly<Record<string, readonly [format: string, file: ImageFileName]>> = {
  iso: ['installer.iso', 'disk'],
  kernel: ['installer-pxe', 'kernel'],
  initramfs: ['installer-pxe', 'initramfs'],
  'live-iso': ['iso', 'disk'],
  'live-kernel': ['pxe', 'kernel'],
  'live-initramfs': ['pxe', 'initramfs'],
  'live-rootfs': ['pxe', 'rootfs'],
}

/**
 * Combines builds of one release, one for each architecture, also with an existing release.
 *
 * @throws UserError `metadata-mixed` for builds of several releases, `metadata-incomplete` for missing metadata
 *
 * @example
 * import { readFileSync } from 'node:fs'
 * import { metaToRelease, readMetadata } from 'ironstage/coreos'
 *
 * const build = readMetadata(readFileSync('meta.json', 'utf8'), 'meta.json')
 * if (build.kind === 'build') console.log(metaToRelease([build.value]).release)
 */
export function metaToRelease(
  builds: readonly BuildMeta[],
  options: ReleaseOptions = {},
  before: CoreosRelease | null = null,
): CoreosRelease {
  let release = before
  for (const build of builds) release = withBuild(release, build, options)
  if (release) return release
  throw new UserError('metadata-incomplete', 'no build is named', { kind: 'usage', remedy: 'name a meta.json' })
}

/** The stream that a build says it is of. */
export const streamOfBuild = (build: BuildMeta): string | undefined =>
  build['coreos-assembler.oci-imported-labels']?.['com.coreos.stream'] ??
  build['coreos-assembler.container-config-git']?.branch

function withBuild(before: CoreosRelease | null, build: BuildMeta, options: ReleaseOptions): CoreosRelease {
  const architecture = build['coreos-assembler.basearch']
  if (architecture === undefined) throw incomplete(build, 'coreos-assembler.basearch')
  const stream = options.streamName ?? streamOfBuild(build)
  if (stream === undefined) throw incomplete(build, 'coreos-assembler.container-config-git.branch')
  const release = before ?? { release: build.buildid, stream, architectures: {} }
  refuseOtherRelease(release.release, build.buildid)
  refuseOtherRelease(release.stream, stream)
  const { baseUrl = FEDORA_BUILDS, signatures = true } = options
  const folder = `${baseUrl.replace(/\/+$/, '')}/${stream}/builds/${build.buildid}/${architecture}`
  const published = ({ path, sha256, 'uncompressed-sha256': inside }: BuildArtifact): StreamArtifact => ({
    location: `${folder}/${path}`,
    signature: signatures ? `${folder}/${path}.sig` : '',
    sha256,
    ...defined({ 'uncompressed-sha256': inside }),
  })
  const made = ofBuild(build, architecture, published)
  return {
    ...release,
    architectures: {
      ...release.architectures,
      [architecture]: mergeArchitecture(release.architectures[architecture], made),
    },
  }
}

function ofBuild(
  build: BuildMeta,
  architecture: string,
  published: (artifact: BuildArtifact) => StreamArtifact,
): ReleaseArchitecture {
  const media: Record<string, PlatformMedia> = {}
  const mediaOf = (platform: string): PlatformMedia => (media[platform] ??= {})
  const add = (platform: string, format: string, file: ImageFileName, artifact: BuildArtifact) => {
    const formats = (mediaOf(platform).artifacts ??= {})
    formats[format] = { ...formats[format], [file]: published(artifact) }
  }
  const images = build.images ?? {}
  for (const platform of PLATFORMS.split(' '))
    if (images[platform]) add(platform, formatOf(images[platform], platform, architecture), 'disk', images[platform])
  if (images['metal4k'])
    add('metal', `4k.${formatOf(images['metal4k'], 'metal4k', architecture)}`, 'disk', images['metal4k'])
  for (const [name, [format, file]] of Object.entries(METAL)) if (images[name]) add('metal', format, file, images[name])
  for (const { name, hvm } of build.amis ?? []) (mediaOf('aws').images ??= {})[name] = { image: hvm }
  for (const { name, id } of build.aliyun ?? []) (mediaOf('aliyun').images ??= {})[name] = { image: id }
  for (const cloud of ['ibmcloud', 'powervs'] as const)
    for (const { region, object, bucket, url } of build[cloud] ?? [])
      (mediaOf(cloud).images ??= {})[region] = { object, bucket, url }
  if (build.gcp) {
    const { image: name, project, family } = build.gcp
    mediaOf('gcp').image = { ...defined({ project, family }), name }
  }
  if (build.kubevirt) mediaOf('kubevirt').image = floating(build, build.kubevirt)
  const { azure, 'aws-winli': windows, 'base-oscontainer': base } = build
  const extensions = defined({
    'azure-disk': azure ? { url: azure.url } : undefined,
    'aws-winli': windows
      ? { images: Object.fromEntries(windows.map(({ name, hvm }) => [name, { image: hvm }])) }
      : undefined,
  })
  return {
    ...defined({
      commit: build['coreos-assembler.oci-imported'] ? undefined : build['ostree-commit'],
      'oci-image': base ? floating(build, base) : undefined,
    }),
    media,
    ...defined({ 'rhel-coreos-extensions': Object.keys(extensions).length === 0 ? undefined : extensions }),
  }
}

/** Format of a file: the part of its name after `PLATFORM.ARCH.`. */
function formatOf({ path }: BuildArtifact, platform: string, architecture: string): string {
  const marker = `${platform}.${architecture}.`
  const at = path.indexOf(marker)
  const format = at < 0 ? '' : path.slice(at + marker.length)
  if (format !== '') return format
  throw new UserError('metadata-incomplete', `the file ${path} does not name its format after ${marker}`, {
    remedy: `a file is named like coreos-1.2.3-${marker}raw.xz`,
  })
}

/** Container image with its floating tag, which is not specific to this build, and its digest. */
function floating({ buildid }: BuildMeta, { image, tags = [], digest }: BuildContainer): ContainerImage {
  const found = tags.filter((tag) => !tag.includes(buildid))
  if (found.length !== 1 || digest === undefined)
    throw new UserError(
      'metadata-incomplete',
      digest === undefined
        ? `the container image ${image} has no digest`
        : found.length === 0
          ? `failed to find floating tag within: ${tags.join(', ')}`
          : `multiple floating tags within: ${tags.join(', ')}`,
      { remedy: 'a container image has a digest and exactly one tag that does not name the build' },
    )
  return { image: `${image}:${found[0]}`, 'digest-ref': `${image}@${digest}` }
}

function mergeArchitecture(there: ReleaseArchitecture | undefined, made: ReleaseArchitecture): ReleaseArchitecture {
  if (!there) return made
  for (const [platform, media] of Object.entries(made.media))
    if (there.media[platform] && !isDeepStrictEqual(there.media[platform], media))
      throw new UserError('metadata-mixed', `differing content detected for media type '${platform}'`, {
        remedy: ERRORS['metadata-mixed'].remedy,
      })
  return { ...there, media: { ...there.media, ...made.media } }
}

function refuseOtherRelease(expected: string, found: string): void {
  if (expected === found) return
  throw new UserError(
    'metadata-mixed',
    `Input Files do not appear to be for the same release (${expected} != ${found})`,
    {
      remedy: 'name the meta.json of one build for each architecture',
    },
  )
}

const incomplete = ({ buildid }: BuildMeta, key: string): UserError =>
  new UserError('metadata-incomplete', `the build metadata of ${buildid} does not say ${key}`, {
    remedy: 'name a whole meta.json, as coreos-assembler writes it',
  })
