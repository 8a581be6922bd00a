import { ownMember } from '../../base/runtime/index.js'
import { osImages, type BuildMeta } from '../metadata/build-meta.js'
import type { StreamMetadata } from '../metadata/stream-metadata.js'
import { liveFiles } from '../metadata/stream-lookup.js'
import { documentKind, metadataObjectSchema, METADATA_TEXT_SCHEMA } from '../metadata/metadata-document.js'

/** Description of a container image by `skopeo inspect`. */
export interface ContainerInspection {
  Digest: string
  Architecture?: string
  Labels?: Record<string, string>
}

export const CONTAINER = documentKind<ContainerInspection>(
  'container inspection',
  metadataObjectSchema(
    { Digest: METADATA_TEXT_SCHEMA, Architecture: METADATA_TEXT_SCHEMA, Labels: { type: 'object' } },
    ['Digest'],
  ),
)

/** Labels with the version, in order of preference. */
const VERSION_LABELS = ['org.opencontainers.image.version', 'version']
const GO_NAMES: Readonly<Record<string, string>> = { x86_64: 'amd64', aarch64: 'arm64' }

/**
 * Checks that disk images and container image are of one build: the stream has the files of the build, and the container
 * is the one that the build pushed.
 *
 * @returns a sentence for each contradiction
 */
export function buildContradictions(
  build: BuildMeta,
  { stream, container }: { stream?: StreamMetadata; container?: ContainerInspection },
): string[] {
  const found: string[] = []
  const differ = (what: string, expected: string | undefined, actual: string | undefined) => {
    if (expected !== undefined && actual !== undefined && expected !== actual)
      found.push(`${what}: the build ${build.buildid} has ${expected}, and here it is ${actual}`)
  }
  const architecture = build['coreos-assembler.basearch']
  if (stream && architecture !== undefined) {
    const live = liveFiles(stream, architecture)
    differ('release of the stream', build.buildid, live.release)
    for (const name of ['iso', 'kernel', 'initramfs', 'rootfs'] as const)
      differ(`digest of the live ${name}`, build.images?.[`live-${name}`]?.sha256, live[name].sha256)
  }
  if (container) {
    const { base, derived } = osImages(build)
    const digests = [base, derived].flatMap((one) => one?.split('@')[1] ?? [])
    if (digests.length > 0 && !digests.includes(container.Digest))
      differ('digest of the container image', digests.join(' or '), container.Digest)
    const label = VERSION_LABELS.map((name) => container.Labels?.[name]).find((one) => one !== undefined)
    differ('version of the container image', build['ostree-version'], label)
    differ('tree of the container image', build['ostree-commit'], container.Labels?.['ostree.commit'])
    const named = architecture === undefined ? undefined : (ownMember(GO_NAMES, architecture) ?? architecture)
    differ('architecture of the container image', named, container.Architecture)
  }
  return found
}
