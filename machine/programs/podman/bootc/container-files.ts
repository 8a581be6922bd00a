import type { ImageNode } from '../../../../base/registry/index.js'
import { newDirectory, newFile, newLink, parentFolderOf, RootTree, type RootFile } from '../../../root/root-tree.js'

/** The files of a container, as its programs see them. */
export interface ContainerFiles {
  tree: RootTree
  /** Bytes of files whose contents are not kept. */
  holes: Map<RootFile, number>
}

/** Puts the nodes of an image into one tree. A link never takes the place of a folder that has something in it. */
export function containerFiles(nodes: readonly ImageNode[]): ContainerFiles {
  const tree = new RootTree()
  const holes = new Map<RootFile, number>()
  const byPath = nodes.filter(fitsFilesystem).sort((one, other) => (one.path < other.path ? -1 : 1))
  for (const node of byPath) {
    const { mode, uid, gid } = node
    const path = `/${node.path}`
    if (node.kind === 'directory') {
      const folder = tree.mkdirs(path)
      Object.assign(folder, { mode, uid, gid })
    } else if (node.kind === 'file') {
      const file = newFile(node.content ?? new Uint8Array(), { mode, uid, gid })
      if (node.content === null && node.size > 0) holes.set(file, node.size)
      tree.mkdirs(parentFolderOf(path))
      tree.put(path, file)
    }
  }
  for (const { kind, path, target, uid, gid } of byPath) {
    if (kind !== 'symbolic link' || tree.lstat(`/${path}`)) continue
    tree.mkdirs(parentFolderOf(`/${path}`))
    tree.put(`/${path}`, { ...newLink(target), uid, gid })
  }
  for (const { kind, path, target } of byPath) {
    const file = kind === 'hard link' ? tree.lstat(`/${target}`) : undefined
    if (file?.kind !== 'file') continue
    tree.mkdirs(parentFolderOf(`/${path}`))
    tree.put(`/${path}`, file)
  }
  return { tree, holes }
}

/** Limits of Linux: bytes of a name (NAME_MAX), and of a link's target (PATH_MAX). */
const NAME_LIMIT = 255
const TARGET_LIMIT = 4095

function fitsFilesystem({ path, kind, target }: ImageNode): boolean {
  const isTargetFine = kind !== 'symbolic link' || (target !== '' && Buffer.byteLength(target) <= TARGET_LIMIT)
  return isTargetFine && path.split('/').every((name) => Buffer.byteLength(name) <= NAME_LIMIT)
}

/** Folders that a system has and images often lack. */
export function withSystemFolders(tree: RootTree): void {
  for (const path of ['/etc', '/usr', '/var', '/boot', '/proc', '/sys', '/dev', '/run', '/tmp', '/sysroot'])
    if (!tree.lstat(path)) tree.put(path, newDirectory({ mode: path === '/tmp' ? 0o1777 : 0o755 }))
}
