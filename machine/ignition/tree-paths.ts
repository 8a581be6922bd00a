import { baseName, parentFolderOf, type RootNode, type RootTree } from '../root/root-tree.js'
import { IgnitionFailure } from './ignition-log.js'

/** Mount point of the installed system in the initramfs. */
export const SYSROOT = '/sysroot'

/**
 * Resolves a config's path as Ignition does: links in it are followed from the installed system's root, once each,
 * except the last part.
 */
export function joinPath(tree: RootTree, path: string): string {
  let real = ''
  for (const name of parentFolderOf(path).split('/').filter(Boolean)) {
    const next = `${real}/${name}`
    const node = lookUpNode(tree, next)
    if (node?.kind !== 'link') real = next
    else real = cleaned(node.target.startsWith('/') ? node.target : `${real}/${node.target}`)
  }
  return `${real}/${baseName(path)}`
}

/** The node at a path; a link at its end is not followed. @throws IgnitionFailure when the path leads through a file */
export function lookUpNode(tree: RootTree, path: string): RootNode | undefined {
  try {
    return tree.lstat(path)
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    if (code === 'ENOTDIR') throw new IgnitionFailure(`lstat ${SYSROOT}${path}: not a directory`)
    if (code === 'ELOOP') throw new IgnitionFailure(`lstat ${SYSROOT}${path}: too many levels of symbolic links`)
    throw error
  }
}

/** The path without `.`, `..` and doubled slashes; empty for the root. */
function cleaned(path: string): string {
  const parts: string[] = []
  for (const part of path.split('/'))
    if (part === '..') parts.pop()
    else if (part !== '' && part !== '.') parts.push(part)
  return parts.map((part) => `/${part}`).join('')
}

/** Go's `filepath.Clean`, for comparing the targets of links. */
export function cleanTarget(target: string): string {
  if (target.startsWith('/')) return cleaned(target) || '/'
  const parts: string[] = []
  for (const part of target.split('/'))
    if (part === '..' && parts.length > 0 && parts.at(-1) !== '..') parts.pop()
    else if (part !== '' && part !== '.') parts.push(part)
  return parts.join('/') || '.'
}
