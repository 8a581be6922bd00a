import type { ContainerPuller, ReleasePayload } from '../../../site/site-releases.js'
import type { OsStream } from './os-streams.js'

/** Tags of a release image whose images may be operating systems (pkg/osimagestream/imagestream_source.go). */
const SYSTEM_TAG = /^(rhel|stream)[a-zA-Z0-9.-]*-coreos[a-zA-Z0-9.-]*$/

/** Labels of such images (pkg/osimagestream/image_data.go). */
const LABELS = {
  stream: 'io.openshift.os.streamclass',
  bootc: 'containers.bootc',
  extensions: 'io.openshift.os.extensions',
} as const

/** Labels of the two images of a stream. */
export const streamLabels = (
  stream: string,
): { system: Record<string, string>; extensions: Record<string, string> } => ({
  system: { [LABELS.stream]: stream, [LABELS.bootc]: '1' },
  extensions: { [LABELS.stream]: stream, [LABELS.extensions]: 'true' },
})

/** The streams in a release image, by the labels of its images; one without both of its images is none. */
export async function discoverStreams(
  { imageReferences = [] }: ReleasePayload,
  registry: ContainerPuller,
  signal: AbortSignal,
): Promise<OsStream[]> {
  const found = new Map<string, Partial<OsStream>>()
  for (const { tag, image } of imageReferences) {
    if (!SYSTEM_TAG.test(tag)) continue
    const { labels = {} } = await registry.pull(image, signal)
    const name = labels[LABELS.stream]
    if (name === undefined) continue
    const kind = ['1', 'true'].includes(labels[LABELS.bootc]?.toLowerCase() ?? '')
      ? 'osImage'
      : labels[LABELS.extensions] === 'true'
        ? 'osExtensionsImage'
        : undefined
    if (kind !== undefined) found.set(name, { ...found.get(name), [kind]: image })
  }
  return [...found]
    .flatMap(([name, { osImage, osExtensionsImage }]) =>
      osImage === undefined || osExtensionsImage === undefined ? [] : [{ name, osImage, osExtensionsImage }],
    )
    .sort((a, b) => (a.name < b.name ? -1 : 1))
}
