import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { held, UserError, type Clock } from '../../runtime/index.js'
import { BUILD_META, osImages, type BuildMeta, type OsImages } from './build-meta.js'
import { bootImagesText, readBootImages, type BootImages } from './config-map.js'
import { documentText } from './document.js'
import { FEDORA_BUILDS, metaToRelease } from './meta-to-release.js'
import { releaseToStream } from './release-to-stream.js'
import type { Stream } from './stream.js'
import { diffStreams, type StreamDifference } from './stream-diff.js'

/** URL at which RHEL CoreOS is published. */
export const RHEL_BUILDS = 'https://rhcos.mirror.openshift.com/art/storage/prod/streams'

/**
 * Boot image metadata of a release image that is unpacked into a folder:
 *
 * - `machine-os-content/ARCH/bootimage.json`: coreos-assembler's `meta.json` of the build
 * - `release-manifests/0000_50_installer_coreos-bootimages.yaml`: the ConfigMap, in newer releases
 */
export interface ReleaseImage {
  /** Builds by architecture. */
  builds: Readonly<Record<string, BuildMeta>>
  bootImages: BootImages | null
}

const CONTENT = 'machine-os-content'
const BOOT_IMAGE = 'bootimage.json'
const CONFIG_MAP = 'release-manifests/0000_50_installer_coreos-bootimages.yaml'

/** Writes the metadata. Nothing is written when a build does not match its schema. */
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
  await held(clock, `writing ${folder}`, async () => {
    for (const [path, text] of all) {
      await mkdir(dirname(join(folder, path)), { recursive: true })
      await writeFile(join(folder, path), text)
    }
  })
}

/** @throws UserError `release-image` for a folder without boot image metadata; as the readers of its documents do */
export async function readReleaseImage(folder: string, clock: Clock): Promise<ReleaseImage> {
  const text = (path: string) => readFile(join(folder, path), 'utf8').catch(() => null)
  return held(clock, `reading ${folder}`, async () => {
    const builds: Record<string, BuildMeta> = {}
    for (const architecture of await readdir(join(folder, CONTENT)).catch(() => [])) {
      const path = join(CONTENT, architecture, BOOT_IMAGE)
      const found = await text(path)
      if (found === null) continue
      const build = BUILD_META.read(found, join(folder, path))
      const named = build['coreos-assembler.basearch']
      if (named !== architecture)
        throw new UserError('metadata-contradiction', `${join(folder, path)} is of ${named ?? 'no architecture'}`, {
          remedy: `put it where it belongs: ${CONTENT}/ARCH/${BOOT_IMAGE}`,
        })
      builds[architecture] = build
    }
    const map = await text(CONFIG_MAP)
    if (map === null && Object.keys(builds).length === 0)
      throw new UserError('release-image', `${folder} has no boot image metadata`, {
        remedy: `unpack a release there: ${CONTENT}/ARCH/${BOOT_IMAGE}, or ${CONFIG_MAP}`,
        kind: 'usage',
      })
    return { builds, bootImages: map === null ? null : readBootImages(map, join(folder, CONFIG_MAP)) }
  })
}

export interface BootImageStreamOptions {
  /** Base URL of the builds; default Fedora's or RHEL's, by the name in the builds. */
  baseUrl?: string
}

/** Converts the builds of a release to stream metadata with their files' URLs; null without builds. */
export function streamOfBuilds({ builds }: ReleaseImage, { baseUrl }: BootImageStreamOptions = {}): Stream | null {
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
function drift(built: Stream, mapped: Stream): StreamDifference[] {
  return diffStreams(built, mapped).filter(
    ({ path, before, after }) => before !== null && after !== null && /\.(release|sha256|image)$/.test(path),
  )
}
