import { parse } from 'yaml'
import {
  referenceText,
  parseReference,
  type Image,
  type ImagePlace,
  type Images,
  type OpenedImage,
} from '../../base/registry/index.js'
import { readNested, UserError } from '../../base/runtime/index.js'
import {
  pullspecsOf,
  IMAGE_REFERENCES,
  RELEASE_METADATA,
  type ImageReferences,
  type ReleaseMetadata,
} from './image-references.js'
import { BOOT_IMAGE, CONFIG_MAP, CONTENT, MANIFESTS, type ReleaseFiles, type ReleaseText } from './release-files.js'
import { componentTag } from './write-release.js'

/** A release in a container image. */
export interface OpenedRelease extends ReleaseFiles {
  /** Pullspec with the digest. */
  pullspec: string
  version: string
  /** Null for a single image. */
  architectures: readonly string[] | null
  references: ImageReferences
  metadata: ReleaseMetadata | null
  image: Image
  /** Files of `release-manifests/` without `image-references` and `release-metadata`, by name and in order. */
  manifests(): Promise<ReadonlyMap<string, string>>
  /**
   * The image of a component: where it is named, or where the release is, to which it may have been copied.
   *
   * @throws UserError `release-component` for an unknown one; as `Images.open` does
   */
  component(name: string): Promise<OpenedImage>
}

const REFERENCES = `${MANIFESTS}/image-references`
const METADATA = `${MANIFESTS}/release-metadata`
const VERSION_LABEL = 'io.openshift.release'

/** Components with the operating system from 4.13 on. They are large, and bring no metadata of builds so far. */
const NEWER_CONTENT = ['rhel-coreos', 'rhel-coreos-10']

/**
 * Opens a release: `release-manifests/` with the components in `image-references`. Of an index, the release of the first
 * architecture is read; builds are those of all.
 *
 * @throws UserError `release-image` for an image that is not a release; `metadata-contradiction`; as `Images.open` does
 */
export async function openRelease(images: Images, place: ImagePlace): Promise<OpenedRelease> {
  const opened = await images.open(await taggedPlace(images, place))
  const image = await opened.image()
  const { references, metadata, bootImages } = await documentsOf(images, image)
  const version = releaseVersionOf(image, references, metadata)
  const component = (name: string) => componentImage(images, place, references, name)
  return {
    pullspec: opened.pullspec,
    version,
    architectures: opened.architectures,
    references,
    metadata,
    image,
    component,
    name: opened.pullspec,
    remedy: `name a release with ${CONFIG_MAP}, or with a component ${CONTENT} whose image has ${BOOT_IMAGE}`,
    manifests: async () => readReleaseManifests(images, image),
    bootImages: async () => {
      if (bootImages !== undefined) return { name: `${CONFIG_MAP} of ${image.name}`, text: bootImages }
      // A later release may call the file otherwise; then all of them have to be looked at.
      return bootImagesAmong(await readReleaseManifests(images, image), image.name)
    },
    builds: async (isNeeded) => {
      const found = new Map<string, ReleaseText & { architecture: string }>()
      for (const architecture of opened.architectures ?? [image.architecture]) {
        const own =
          architecture === image.architecture
            ? references
            : (await documentsOf(images, await opened.image(architecture))).references
        for (const build of await buildsOf(images, place, own, isNeeded))
          if (!found.has(build.architecture)) found.set(build.architecture, build)
      }
      return [...found.values()]
    },
  }
}

/** Place of the release in a layout without a tag: the release alone, where the only other images are its components. */
async function taggedPlace(images: Images, place: ImagePlace): Promise<ImagePlace> {
  if (place.kind === 'registry' || place.tag !== undefined || place.digest !== undefined) return place
  const tags = await images.layoutTags(place.folder)
  const [tag, ...more] = tags.filter((one) => !tags.some((other) => one === componentTag(other, CONTENT)))
  return tag === undefined || more.length > 0 ? place : { ...place, tag }
}

async function documentsOf(images: Images, image: Image) {
  const files = await images.files(image, { paths: [REFERENCES, METADATA, CONFIG_MAP] })
  const text = (path: string) => files.get(path)?.toString()
  const references = text(REFERENCES)
  if (references === undefined)
    throw new UserError('release-image', `${image.name} is not a release: it has no ${REFERENCES}`, {
      remedy: 'name the image of a release, as in quay.io/openshift-release-dev/ocp-release:4.15.0-x86_64',
      kind: 'usage',
    })
  const metadata = text(METADATA)
  return {
    references: IMAGE_REFERENCES.read(references, `${REFERENCES} of ${image.name}`),
    metadata: metadata === undefined ? null : RELEASE_METADATA.read(metadata, `${METADATA} of ${image.name}`),
    bootImages: text(CONFIG_MAP),
  }
}

function releaseVersionOf(
  { labels, name }: Image,
  { metadata: { name: stream } }: ImageReferences,
  metadata: ReleaseMetadata | null,
): string {
  const label = labels[VERSION_LABEL]
  const all = [label, stream, metadata?.version].filter((one) => one !== undefined)
  if (new Set(all).size === 1) return all[0]!
  throw new UserError('metadata-contradiction', `${name} has several versions: ${[...new Set(all)].join(', ')}`, {
    remedy: 'make the release again; its label, image-references and release-metadata have one version',
  })
}

async function readReleaseManifests(images: Images, image: Image): Promise<Map<string, string>> {
  const files = await images.files(image, { folders: [MANIFESTS] })
  const named = [...files]
    .map(([path, bytes]) => [path.slice(MANIFESTS.length + 1), bytes.toString()] as const)
    .filter(([name]) => /\.(ya?ml|json)$/.test(name))
  return new Map(named.sort(([one], [other]) => (one < other ? -1 : 1)))
}

function bootImagesAmong(manifests: ReadonlyMap<string, string>, image: string): ReleaseText | null {
  for (const [name, text] of manifests) {
    if (!text.includes('coreos-bootimages')) continue
    const value = readNested(
      text,
      name,
      (yaml) => parse(yaml) as { kind?: string; metadata?: { name?: string } } | null,
    )
    if (value?.kind === 'ConfigMap' && value.metadata?.name === 'coreos-bootimages')
      return { name: `${MANIFESTS}/${name} of ${image}`, text }
  }
  return null
}

async function buildsOf(
  images: Images,
  place: ImagePlace,
  references: ImageReferences,
  isNeeded: boolean,
): Promise<(ReleaseText & { architecture: string })[]> {
  const known = pullspecsOf(references)
  const names = known.has(CONTENT) ? [CONTENT] : isNeeded ? NEWER_CONTENT.filter((name) => known.has(name)) : []
  const found: (ReleaseText & { architecture: string })[] = []
  for (const name of names) {
    const opened = await componentImage(images, place, references, name)
    const all = opened.architectures
      ? await Promise.all(opened.architectures.map((architecture) => opened.image(architecture)))
      : [await opened.image()]
    for (const image of all) {
      const text = (await images.files(image, { paths: [BOOT_IMAGE] })).get(BOOT_IMAGE)?.toString()
      if (text !== undefined)
        found.push({ architecture: image.architecture, name: `${BOOT_IMAGE} of ${image.name}`, text })
    }
  }
  return found
}

async function componentImage(
  images: Images,
  place: ImagePlace,
  references: ImageReferences,
  name: string,
): Promise<OpenedImage> {
  const pullspec = pullspecsOf(references).get(name)
  if (pullspec === undefined)
    throw new UserError('release-component', `the release ${references.metadata.name} has no component ${name}`, {
      remedy: `it has ${[...pullspecsOf(references).keys()].join(', ')}`,
      kind: 'usage',
    })
  const named = parseReference(pullspec)
  const { digest } = named
  const atName = () => images.open({ kind: 'registry', ...named })
  if (digest === undefined) return atName()
  const [first, second] =
    place.kind === 'layout'
      ? [() => images.openBeside(place, digest), atName]
      : [atName, () => images.openBeside(place, digest)]
  try {
    return await first()
  } catch (error) {
    if (!(error instanceof UserError) || error.code === 'image-altered') throw error
    return second().catch((other: unknown) => {
      if (!(other instanceof UserError)) throw other
      const shown = referenceText(named)
      throw new UserError(
        error.code,
        `the component ${name} is neither at ${shown} nor beside the release: ${error.message}; ${other.message}`,
        {
          cause: other,
          remedy:
            place.kind === 'layout'
              ? 'copy it into the layout, or see that its registry can be reached'
              : 'copy it beside the release, or name its mirror with --mirrors',
        },
      )
    })
  }
}
