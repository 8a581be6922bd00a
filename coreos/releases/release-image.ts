import { dirname, join } from 'node:path'
import { withClockHeld, makeFolder, UserError, writeResult, type Clock } from '../../base/runtime/index.js'
import { BUILD_META, osImages, type BuildMeta, type OsImages } from '../metadata/build-meta.js'
import { bootImagesText, readBootImages, type BootImages } from '../metadata/config-map.js'
import { documentText } from '../metadata/metadata-document.js'
import { FEDORA_BUILDS, metaToRelease } from '../metadata/meta-to-release.js'
import { releaseToStream } from '../metadata/release-to-stream.js'
import type { StreamMetadata } from '../metadata/stream-metadata.js'
import { diffStreams, type StreamDifference } from '../metadata/stream-diff.js'
import { BOOT_IMAGE, CONTENT, CONFIG_MAP, type ReleaseFiles } from './release-files.js'

/** URL at which RHEL CoreOS is published. */
const RHEL_BUILDS = 'https://rhcos.mirror.openshift.com/art/storage/prod/streams'

/**
 * Boot image metadata of a release:
 *
 * - `bootimage.json` of machine-os-content: coreos-assembler's `meta.json` of the build
 * - `release-manifests/0000_50_installer_coreos-bootimages.yaml`: the ConfigMap, in newer releases
 */
export interface ReleaseImage {
  /** Builds by architecture. */
  builds: Readonly<Record<string, BuildMeta>>
  bootImages: BootImages | null
}

/** Writes the metadata as an unpacked release has it. Nothing is written when a build does not match its schema. */
export async function writeReleaseImage(
  folder: string,
  { builds, bootImages }: ReleaseImage,
  clock: Clock,
): Promise<void> {
  const files = Object.entries(builds).map(([architecture, build]) => {
    const path = join(CONTENT, architecture, BOOT_IMAGE)
    return [path, documentText(BUILD_META.check(build, path))] as const
  })
  const all = bootImages ? [...files, [CONFIG_MAP, bootImagesText(bootImages)] as const] : files
  await withClockHeld(clock, `writing ${folder}`, async () => {
    for (const [path, text] of all) {
      await makeFolder(dirname(join(folder, path)))
      await writeResult(join(folder, path), text)
    }
  })
}

/**
 * Reads the metadata of a release, wherever it is.
 *
 * @param needed with `'one source'` no builds are read where there is a ConfigMap: they may be in large images
 * @throws UserError `release-image` for a release without boot image metadata; as the readers of its documents do
 */
export async function readReleaseImage(
  files: ReleaseFiles,
  needed: 'all sources' | 'one source' = 'all sources',
): Promise<ReleaseImage> {
  const map = await files.bootImages()
  const bootImages = map === null ? null : readBootImages(map.text, map.name)
  const builds: Record<string, BuildMeta> = {}
  const texts = bootImages && needed === 'one source' ? [] : await files.builds(bootImages === null)
  for (const { architecture, text, name } of texts) {
    const build = BUILD_META.read(text, name)
    const named = build['coreos-assembler.basearch']
    if (named !== architecture)
      throw new UserError('metadata-contradiction', `${name} is of ${named ?? 'no architecture'}`, {
        remedy: `put it where it belongs: ${CONTENT}/ARCH/${BOOT_IMAGE}, or the image for its architecture`,
      })
    builds[architecture] = build
  }
  if (bootImages === null && Object.keys(builds).length === 0)
    throw new UserError('release-image', `${files.name} has no boot image metadata`, {
      remedy: files.remedy,
      kind: 'usage',
    })
  return { builds, bootImages }
}

export interface BootImageStreamOptions {
  /** Base URL of the builds; default Fedora's or RHEL's, by the name in the builds. */
  baseUrl?: string
}

/** Converts the builds of a release to stream metadata with their files' URLs; null without builds. */
export function streamOfBuilds(
  { builds }: ReleaseImage,
  { baseUrl }: BootImageStreamOptions = {},
): StreamMetadata | null {
  // Streams have no container images, so missing tags or digests of them must not fail here.
  const all = Object.values(builds).map(({ 'base-oscontainer': _, ...build }) => build)
  const [first] = all
  if (!first) return null
  const fedora = first.name === 'fedora-coreos'
  const release = metaToRelease(all, { baseUrl: baseUrl ?? (fedora ? FEDORA_BUILDS : RHEL_BUILDS), signatures: fedora })
  return releaseToStream(release, { now: isoTime(first['ostree-timestamp']) })
}

const isoTime = (text: string): string => new Date(text).toISOString().replace(/\.\d+Z$/, 'Z')

/** Boot images of a release, as `oc adm release info --bootimages` could print them. */
export interface BootImageInfo {
  architectures: Record<
    string,
    { release: string; platforms: Record<string, string[]>; amis: Record<string, string> } & OsImages
  >
  /** Differences between the two sources, build metadata and ConfigMap. */
  drift: StreamDifference[]
}

export function bootImageInfo(image: ReleaseImage, options: BootImageStreamOptions = {}): BootImageInfo {
  const built = streamOfBuilds(image, options)
  const mapped = image.bootImages?.stream ?? null
  const stream = built ?? mapped
  const architectures: BootImageInfo['architectures'] = {}
  for (const [architecture, { artifacts, images }] of Object.entries(stream?.architectures ?? {})) {
    const build = image.builds[architecture]
    architectures[architecture] = {
      release: Object.values(artifacts)[0]?.release ?? '',
      ...(build ? osImages(build) : { base: null, derived: null }),
      platforms: Object.fromEntries(
        Object.entries(artifacts).map(([platform, { formats }]) => [platform, Object.keys(formats)]),
      ),
      amis: Object.fromEntries(Object.entries(images?.aws?.regions ?? {}).map(([region, one]) => [region, one.image])),
    }
  }
  return { architectures, drift: built && mapped ? drift(built, mapped) : [] }
}

/** Differences in values that both sources have. Entries in one source only, and locations, which depend on mirrors, are ignored. */
function drift(built: StreamMetadata, mapped: StreamMetadata): StreamDifference[] {
  return diffStreams(built, mapped).filter(
    ({ path, before, after }) => before !== null && after !== null && /\.(release|sha256|image)$/.test(path),
  )
}
