import { putImage, type ImagePlace, type Images } from '../../base/registry/index.js'
import type { MadeRelease } from './make-release.js'
import { CONTENT } from './release-files.js'

/** Tag of the image of a component that stands beside a release, as `oc adm release mirror` names it. */
export const componentTag = (tag: string, component: string): string => `${tag}-${component}`

/**
 * Puts a release into a registry or an OCI layout: machine-os-content first, the tag of the release last.
 *
 * @param place whose tag is that of the release
 * @returns the release by digest
 */
export async function putRelease(
  { image, content }: MadeRelease,
  { images, place, tag, signal }: { images: Images; place: ImagePlace; tag: string; signal: AbortSignal },
): Promise<string> {
  const sink = images.sink(place)
  if (content) await putImage(content, { sink, tag: componentTag(tag, CONTENT), signal })
  await putImage(image, { sink, tag, signal })
  return `${sink.name}@${image.digest}`
}
