import type { ReleaseManifest } from '../../site/site-releases.js'

/** Manifests of one component at one run level, in the order of their names. */
export interface ManifestGroup {
  /** `0000_31_cluster-baremetal-operator` */
  name: string
  manifests: ReleaseManifest[]
}

/** cluster-version-operator 6e71933 pkg/payload/task_graph.go reMatchPattern */
const MANIFEST_NAME_PATTERN = /^(0000_(\d+)_([a-zA-Z0-9]+(?:-[a-zA-Z0-9]+)*?))_/

/**
 * Sorts manifests into run levels: the components of one level do not wait for each other, a level waits for the one
 * before. Files with another name are levels of their own.
 */
export function runLevels(manifests: readonly ReleaseManifest[]): ManifestGroup[][] {
  const levels: { number: string; groups: ManifestGroup[] }[] = []
  for (const manifest of [...manifests].sort(compareManifests)) {
    const [, name = manifest.name, number = manifest.name] = MANIFEST_NAME_PATTERN.exec(manifest.name) ?? []
    let level = levels.at(-1)
    if (level?.number !== number) levels.push((level = { number, groups: [] }))
    const group = level.groups.find((one) => one.name === name)
    if (group) group.manifests.push(manifest)
    else level.groups.push({ name, manifests: [manifest] })
  }
  return levels.map(({ groups }) => groups)
}

/** A group for each manifest, all in one level. */
export const groupUnordered = (manifests: readonly ReleaseManifest[]): ManifestGroup[][] => [
  manifests.map((manifest) => ({ name: manifest.name, manifests: [manifest] })),
]

const compareManifests = (a: ReleaseManifest, b: ReleaseManifest): number =>
  a.name < b.name ? -1 : a.name > b.name ? 1 : 0
