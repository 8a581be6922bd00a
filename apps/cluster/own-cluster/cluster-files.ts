import type { Dirent } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { clusterFolderError } from './cluster-folder-error.js'
import { PLAYED_KINDS } from './own-kinds.js'

/** A file with objects of a cluster. */
export interface ClusterFile {
  path: string
  /** Path from the folder that was named, for sentences. */
  shown: string
  /** Group, plural and namespace, as a must-gather has them in its paths; undefined for a file of `oc get`. */
  place?: GatheredPlace
  /** A link may lead out of the folder, which may come from someone else. */
  isLink: boolean
}

interface GatheredPlace {
  /** `core` for kinds of Kubernetes itself. */
  group: string
  resource: string
  /** Undefined for kinds without namespaces. */
  namespace?: string
}

/** Folders that a must-gather has in each image's folder (openshift/oc 6b8e30c pkg/cli/admin/inspect/resource.go). */
const CLUSTER_SCOPED = 'cluster-scoped-resources'
const NAMESPACES = 'namespaces'
/** A must-gather has its images' folders in one, and `oc adm must-gather` may have put that in another. */
const MAX_ROOT_DEPTH = 4
const MAX_LOOSE_DEPTH = 6
const OBJECT_FILE = /\.(ya?ml|json)$/

/**
 * Finds the files of a cluster: those of a must-gather, which may have a folder for each image that gathered, or all YAML
 * and JSON of a folder that has none.
 *
 * @throws UserError `cluster-folder` (usage)
 */
export async function clusterFiles(folder: string): Promise<ClusterFile[]> {
  await checkFolder(folder)
  const roots = await gatheredRoots(folder, 0)
  const files =
    roots.length > 0
      ? (await Promise.all(roots.map((root) => gatheredFiles(root, folder)))).flat()
      : await looseFiles(folder, folder, 0)
  if (files.length > 0) return files
  throw clusterFolderError(
    `${folder} has no objects of a cluster: neither ${CLUSTER_SCOPED} of a must-gather nor a YAML or JSON file`,
  )
}

async function checkFolder(folder: string): Promise<void> {
  const found = await stat(folder).catch((cause: unknown) => {
    const isMissing = (cause as NodeJS.ErrnoException).code === 'ENOENT'
    throw clusterFolderError(isMissing ? `there is no folder ${folder}` : `the folder ${folder} cannot be read`, {
      cause,
    })
  })
  if (found.isDirectory()) return
  const isArchive = /\.(tar|tgz|tar\.gz|tar\.xz|zip)$/.test(folder)
  throw clusterFolderError(
    `${folder} is ${isArchive ? 'an archive' : 'a file'}, and not a folder`,
    isArchive ? { remedy: `unpack it, and name its folder: tar xf ${folder}` } : {},
  )
}

const entriesOf = async (folder: string) => {
  const entries = await readdir(folder, { withFileTypes: true }).catch((cause: unknown) => {
    throw clusterFolderError(`the folder ${folder} cannot be read`, { cause })
  })
  return entries.sort((a, b) => (a.name < b.name ? -1 : 1))
}

const isObjectFile = (entry: Dirent): boolean =>
  (entry.isFile() || entry.isSymbolicLink()) && OBJECT_FILE.test(entry.name)

async function gatheredRoots(folder: string, depth: number): Promise<string[]> {
  const entries = await entriesOf(folder)
  const folders = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name)
  if (folders.includes(CLUSTER_SCOPED) || folders.includes(NAMESPACES)) return [folder]
  if (depth === MAX_ROOT_DEPTH) return []
  const below = await Promise.all(folders.map((name) => gatheredRoots(join(folder, name), depth + 1)))
  return below.flat()
}

async function gatheredFiles(root: string, named: string): Promise<ClusterFile[]> {
  const found: ClusterFile[] = []
  const entries = (await entriesOf(root)).map(({ name }) => name)
  if (entries.includes(CLUSTER_SCOPED)) found.push(...(await groupFiles(join(root, CLUSTER_SCOPED), undefined, named)))
  if (!entries.includes(NAMESPACES)) return found
  for (const entry of await entriesOf(join(root, NAMESPACES)))
    if (entry.isDirectory()) found.push(...(await groupFiles(join(root, NAMESPACES, entry.name), entry.name, named)))
  return found
}

/** Files of `GROUP/RESOURCE.yaml`, a list, and of `GROUP/RESOURCE/NAME.yaml`; other folders are those of logs. */
async function groupFiles(folder: string, namespace: string | undefined, named: string): Promise<ClusterFile[]> {
  const found: ClusterFile[] = []
  const add = (path: string, isLink: boolean, group: string, resource: string): void => {
    const place = namespace === undefined ? { group, resource } : { group, resource, namespace }
    found.push({ path, shown: relative(named, path), place, isLink })
  }
  for (const group of await entriesOf(folder)) {
    if (!group.isDirectory()) continue
    const groupFolder = join(folder, group.name)
    for (const entry of await entriesOf(groupFolder)) {
      const path = join(groupFolder, entry.name)
      if (isObjectFile(entry)) add(path, entry.isSymbolicLink(), group.name, entry.name.replace(OBJECT_FILE, ''))
      if (!entry.isDirectory() || group.name === 'pods') continue
      for (const file of await entriesOf(path))
        if (isObjectFile(file)) add(join(path, file.name), file.isSymbolicLink(), group.name, entry.name)
    }
  }
  return found
}

async function looseFiles(folder: string, named: string, depth: number): Promise<ClusterFile[]> {
  const found: ClusterFile[] = []
  for (const entry of await entriesOf(folder)) {
    const path = join(folder, entry.name)
    if (entry.name.startsWith('.')) continue
    if (isObjectFile(entry)) found.push({ path, shown: relative(named, path), isLink: entry.isSymbolicLink() })
    if (entry.isDirectory() && depth < MAX_LOOSE_DEPTH) found.push(...(await looseFiles(path, named, depth + 1)))
  }
  return found
}

/** True if a must-gather's file has objects that are played: others are counted alone, however large they are. */
export function isPlayedPlace({ group, resource, namespace }: GatheredPlace): boolean {
  const own = group === 'core' ? '' : group
  const kind = Object.values(PLAYED_KINDS).find((one) => one.group === own && one.resource === resource)
  return kind !== undefined && (kind.namespaces === undefined || kind.namespaces.includes(namespace ?? ''))
}
