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

/** Where RHEL CoreOS is published. */
export const RHEL_BUILDS = 'https://rhcos.mirror.openshift.com/art/storage/prod/streams'

/**
 * What a release image says of boot images, unpacked into a folder:
 *
 * - `machine-os-content/ARCH/bootimage.json`: coreos-assembler's `meta.json` of the build (001, phase 1)
 * - `release-manifests/0000_50_installer_coreos-bootimages.yaml`: the ConfigMap, in newer releases (004)
 */
export interface ReleaseImage {
  /** By architecture. */
  builds: Readonly<Record<string, BuildMeta>>
  bootImages: BootImages | null
}

const CONTENT = 'machine-os-content'
const BOOT_IMAGE = 'bootimage.json'
const CONFIG_MAP = 'release-manifests/0000_50_installer_coreos-bootimages.yaml'

/** Writes one; of each build that does not fit its schema nothing is written. */
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

/** @throws UserError `release-image` for a folder that says nothing of boot images; as the readers of its documents */
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
      throw new UserError('release-image', `${folder} says nothing of boot images`, {
        remedy: `unpack a release there: ${CONTENT}/ARCH/${BOOT_IMAGE}, or ${CONFIG_MAP}`,
        kind: 'usage',
      })
    return { builds, bootImages: map === null ? null : readBootImages(map, join(folder, CONFIG_MAP)) }
  })
}

export interface BootImageStreamOptions {
  /** Where the builds are published; by what the builds are, unless told otherwise. */
  baseUrl?: string
}

/** The builds of a release as stream metadata, with the places of their files; null for none. */
export function streamOfBuilds({ builds }: ReleaseImage, { baseUrl }: BootImageStreamOptions = {}): Stream | null {
  // No stream speaks of container images, so what is not said of them here is no matter.
  const all = Object.values(builds).map(({ 'base-oscontainer': _, ...build }) => build)
  const [first] = all
  if (!first) return null
  const fedora = first.name === 'fedora-coreos'
  const release = metaToRelease(all, { baseUrl: baseUrl ?? (fedora ? FEDORA_BUILDS : RHEL_BUILDS), signatures: fedora })
  return releaseToStream(release, { now: isoTime(first['ostree-timestamp']) })
}

const isoTime = (text: string): string => new Date(text).toISOString().replace(/\.\d+Z$/, 'Z')

/** What a release tells of its boot images, as for `oc adm release info --bootimages` (004). */
export interface BootImageInfo {
  architectures: Record<
    string,
    { release: string; platforms: Record<string, string[]>; amis: Record<string, string> } & OsImages
  >
  /** Where the two sources of truth, build metadata and ConfigMap, differ (001: risks). */
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

/** In what both speak of: names, architectures and platforms may be in one only, and places are those of mirrors. */
function drift(built: Stream, mapped: Stream): StreamDifference[] {
  return diffStreams(built, mapped).filter(
    ({ path, before, after }) => before !== null && after !== null && /\.(release|sha256|image)$/.test(path),
  )
}
