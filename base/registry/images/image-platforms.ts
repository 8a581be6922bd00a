import { UserError, ownMember } from '../../runtime/index.js'
import type { Descriptor, ImageIndex } from './manifest.js'

/** Names of architectures: Go's, which container images use, by those of `uname -m`. */
const GO_ARCHITECTURES: Readonly<Record<string, string>> = {
  x86_64: 'amd64',
  aarch64: 'arm64',
  i686: '386',
  armv7l: 'arm',
}
const UNAME_NAMES = new Map(Object.entries(GO_ARCHITECTURES).map(([uname, go]) => [go, uname]))

/** `amd64` for `x86_64`; ppc64le and s390x are called the same. */
export const goArchitecture = (architecture: string): string =>
  ownMember(GO_ARCHITECTURES, architecture) ?? architecture

/** `x86_64` for `amd64`. */
export const unameArchitecture = (architecture: string): string => UNAME_NAMES.get(architecture) ?? architecture

/** Images of an index by architecture (as `uname -m` has it). What is no image, such as an attestation, is left out. */
export function imagesByArchitecture({ manifests }: ImageIndex): Map<string, Descriptor> {
  const found = new Map<string, Descriptor>()
  for (const one of manifests) {
    const { os, architecture } = one.platform ?? {}
    if (os !== 'linux' || architecture === undefined || architecture === 'unknown') continue
    // The first one counts, as in containers/image; later ones are variants.
    if (!found.has(unameArchitecture(architecture))) found.set(unameArchitecture(architecture), one)
  }
  return found
}

/** @throws UserError `image-platform` that lists the architectures */
export function imageFor(index: ImageIndex, architecture: string, name: string): Descriptor {
  const images = imagesByArchitecture(index)
  const found = images.get(unameArchitecture(architecture))
  if (found) return found
  const list = [...images.keys()].sort().join(', ')
  throw new UserError('image-platform', `${name} has no image for ${architecture}`, {
    remedy: list === '' ? 'it has none for linux at all' : `it has images for ${list}`,
    kind: 'usage',
  })
}
