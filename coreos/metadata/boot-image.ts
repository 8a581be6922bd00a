import { UserError } from '../../base/runtime/index.js'
import { FILE_NAMES, type StreamArtifact, type ImageFileName } from './artifact.js'
import type { StreamMetadata } from './stream-metadata.js'
import { findArchitecture, imageFormat, releaseOf } from './stream-lookup.js'

/** Platforms for which a boot image can be generated. */
export const BOOT_IMAGE_PLATFORMS = [
  'metal',
  'openstack',
  'qemu',
  'vmware',
  'aws',
  'aws-snapshot',
  'baremetal-iso',
  'baremetal-pxe',
] as const
/** A platform that {@link bootImageFor} knows. */
export type BootImagePlatform = (typeof BOOT_IMAGE_PLATFORMS)[number]

/** Boot image of a platform. */
export type BootImage =
  | {
      kind: 'files'
      release: string
      /** Format such as `raw.gz`, `iso` or `pxe`. */
      format: string
      files: Partial<Record<ImageFileName, StreamArtifact>>
    }
  /** AMIs in the form of the installer's `rhcos.json`, for manual installations. */
  | { kind: 'amis'; amis: Record<string, { hvm: string }> }

/** Formats in order of preference; a stream has one compression of each. */
const BOOT_IMAGE_FORMATS: Record<
  Exclude<BootImagePlatform, 'aws'>,
  readonly [platform: string, formats: readonly string[]]
> = {
  metal: ['metal', ['raw.xz', 'raw.gz', 'raw']],
  openstack: ['openstack', ['qcow2.xz', 'qcow2.gz', 'qcow2']],
  qemu: ['qemu', ['qcow2.xz', 'qcow2.gz', 'qcow2']],
  vmware: ['vmware', ['ova']],
  'aws-snapshot': ['aws', ['vmdk.xz', 'vmdk.gz', 'vmdk']],
  // RHEL CoreOS had no live system before 4.5: its installer is another ISO, and boots without a root filesystem.
  'baremetal-iso': ['metal', ['iso', 'installer.iso']],
  'baremetal-pxe': ['metal', ['pxe', 'installer-pxe']],
}

/**
 * Selects the boot image of a platform.
 *
 * @throws UserError `boot-image-platform`, `stream-artifact`
 *
 * @example
 * import { readFileSync } from 'node:fs'
 * import { bootImageFor, readMetadata } from 'ironstage/coreos'
 *
 * const metadata = readMetadata(readFileSync('stable.json', 'utf8'), 'stable.json')
 * if (metadata.kind === 'stream') console.log(bootImageFor(metadata.value, 'x86_64', 'baremetal-iso'))
 */
export function bootImageFor(stream: StreamMetadata, architecture: string, platform: string): BootImage {
  if (!isPlatform(platform))
    throw new UserError('boot-image-platform', `there is no boot image for ${platform}`, {
      remedy: `there is one for ${BOOT_IMAGE_PLATFORMS.join(', ')}`,
      kind: 'usage',
    })
  if (platform === 'aws') return { kind: 'amis', amis: amisOf(stream, architecture) }
  const [artifact, formats] = BOOT_IMAGE_FORMATS[platform]
  const there = findArchitecture(stream, architecture).artifacts[artifact]?.formats ?? {}
  const format = formats.find((name) => name in there) ?? formats[0]!
  const files = imageFormat(stream, architecture, artifact, format)
  const release = releaseOf(stream, architecture, artifact)
  return {
    kind: 'files',
    release,
    format,
    files: Object.fromEntries(FILE_NAMES.flatMap((name) => (files[name] ? [[name, files[name]]] : []))),
  }
}

const isPlatform = (name: string): name is BootImagePlatform =>
  (BOOT_IMAGE_PLATFORMS as readonly string[]).includes(name)

function amisOf(stream: StreamMetadata, architecture: string): Record<string, { hvm: string }> {
  const regions = findArchitecture(stream, architecture).images?.aws?.regions
  if (!regions)
    throw new UserError('stream-artifact', `${stream.stream}/${architecture}: No AWS images`, {
      remedy: 'import the image of aws-snapshot',
      kind: 'usage',
    })
  return Object.fromEntries(Object.entries(regions).map(([region, { image }]) => [region, { hvm: image }]))
}
