import type { LinkedIso, LiveImageFiles } from '../../../../coreos/index.js'

/** Label of a host with its stream of CoreOS: `rhel-10`. */
export const STREAM_LABEL = 'coreos.openshift.io/stream'

/** Architecture of the controller's own host. */
export const HOST_ARCHITECTURE = 'x86_64'

/** The live ISOs of a folder, by their links. */
export type BaseImages = readonly LinkedIso[]

/** A stream and an architecture; absent where nothing was said. */
interface WantedBase {
  stream?: string | undefined
  architecture?: string | undefined
}

/**
 * The ISO for a host. A stream that the folder does not have is as none, so an unknown one silently gets the default's; so
 * does one without a link of the host's architecture where the default has such a link (image-customization-controller
 * pkg/imagehandler, newer than eacc65f).
 */
export function baseImageFor(bases: BaseImages, { stream, architecture }: WantedBase): LinkedIso | undefined {
  const ofOwnHost = architecture === HOST_ARCHITECTURE ? [{ stream }, {}] : []
  const inOrder: WantedBase[] = [{ stream, architecture }, { architecture }, ...ofOwnHost]
  for (const wanted of inOrder) {
    const found = bases.find((base) => base.stream === wanted.stream && base.architecture === wanted.architecture)
    if (found) return found
  }
  return undefined
}

/** Each ISO once, by the name of what is linked. */
export function namedFiles(bases: BaseImages): LiveImageFiles[] {
  const byTarget = new Map(bases.map(({ target, path }) => [target, path]))
  return [...byTarget].map(([name, iso]) => ({ name, iso, architecture: HOST_ARCHITECTURE }))
}
