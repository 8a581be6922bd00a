import { baseName, parentFolderOf, newDirectory, newFile, type RootNode, type RootTree } from '../root/root-tree.js'
import type { Account } from './accounts.js'
import { IgnitionFailure } from './ignition-log.js'
import { SYSROOT } from './tree-paths.js'

const READ_WRITE = 0o2
const SEARCH = 0o1

/** True if the permission bits allow an access of a user; root may do anything. */
function mayDo(node: RootNode, { uid, gid }: Account, what: number): boolean {
  if (uid === 0) return true
  const bits = node.uid === uid ? node.mode >> 6 : node.gid === gid ? node.mode >> 3 : node.mode
  return (bits & what) !== 0
}

/** Writes a user's file with that user's rights and mode 0600, since a home may be a folder of another user. */
export function writeAsUser(tree: RootTree, path: string, bytes: Uint8Array, user: Account): void {
  const denied = (doing: string) => new IgnitionFailure(`failed to set SSH key: ${doing}: permission denied`)
  makeUserFolders(tree, parentFolderOf(path), user, denied(`creating parent dirs for "${SYSROOT}${path}"`))
  const opening = denied(`opening file "${SYSROOT}${path}" as user ${user.uid} and group ${user.gid}`)
  const old = tree.stat(path)
  if (old?.kind === 'file') {
    if (!mayDo(old, user, READ_WRITE)) throw opening
    old.bytes = bytes
    return
  }
  const folder = tree.stat(parentFolderOf(path))
  if (!folder || !mayDo(folder, user, READ_WRITE)) throw opening
  tree.put(path, newFile(bytes, { mode: 0o600, uid: user.uid, gid: user.gid }))
}

function makeUserFolders(tree: RootTree, path: string, user: Account, refused: IgnitionFailure): void {
  const node = tree.stat(path)
  if (node) {
    if (node.kind !== 'directory' || !mayDo(node, user, SEARCH)) throw refused
    return
  }
  makeUserFolders(tree, parentFolderOf(path), user, refused)
  const parent = tree.stat(parentFolderOf(path))
  if (parent?.kind !== 'directory' || !mayDo(parent, user, READ_WRITE)) throw refused
  parent.entries.set(baseName(path), newDirectory({ mode: 0o700, uid: user.uid, gid: user.gid }))
}
