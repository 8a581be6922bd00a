import { baseName, folderOf, type RootNode, type RootTree } from '../root/root-tree.js'
import { IgnitionFailure } from './ignition-log.js'

/** Where the installed system is, for what runs before it is the root. */
export const SYSROOT = '/sysroot'

/**
 * A config's path as Ignition resolves it before it works on it: links on the way are followed as seen from the
 * installed system's root, once each, and never the last part's.
 */
export function joinPath(tree: RootTree, path: string): string {
  let real = ''
  for (const name of folderOf(path).split('/').filter(Boolean)) {
    const next = `${real}/${name}`
    const node = look(tree, next)
    if (node?.kind !== 'link') real = next
    else real = cleaned(node.target.startsWith('/') ? node.target : `${real}/${node.target}`)
  }
  return `${real}/${baseName(path)}`
}

/** What is there, links at its end not followed. @throws IgnitionFailure when the way there leads through a file */
export function look(tree: RootTree, path: string): RootNode | undefined {
  try {
    return tree.lstat(path)
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    if (code === 'ENOTDIR') throw new IgnitionFailure(`lstat ${SYSROOT}${path}: not a directory`)
    if (code === 'ELOOP') throw new IgnitionFailure(`lstat ${SYSROOT}${path}: too many levels of symbolic links`)
    throw error
  }
}

/** Without `.`, `..` and doubled slashes; empty for the root. */
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
