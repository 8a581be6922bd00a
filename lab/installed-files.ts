import type { RootNode, RootTree } from '../machine/index.js'
import type { InstalledFile } from '../control/index.js'

/** Lists all paths below the root, or one path with its contents. Links are not followed. */
export function installedFiles(tree: RootTree, path: string | null): InstalledFile[] | undefined {
  if (path === null) return [...tree.walk()].map(([at, node]) => describeInstalledFile(at, node))
  const node = tree.lstat(path)
  if (!node) return undefined
  const one = describeInstalledFile(path, node)
  return [node.kind === 'file' ? { ...one, base64: Buffer.from(node.bytes).toString('base64') } : one]
}

function describeInstalledFile(path: string, node: RootNode): InstalledFile {
  const { kind, uid, gid } = node
  const mode = node.mode.toString(8).padStart(4, '0')
  switch (node.kind) {
    case 'file':
      return { path, kind, mode, uid, gid, size: node.bytes.length }
    case 'directory':
      return { path, kind, mode, uid, gid }
    case 'link':
      return { path, kind, mode, uid, gid, target: node.target }
  }
}
