import {
  depthOf,
  parentFolderOf,
  newDirectory,
  newFile,
  newLink,
  type RootNode,
  type RootTree,
} from '../root/root-tree.js'
import type { Account, AccountFiles } from './accounts.js'
import type { LoggedResult } from './ignition-log.js'

/** Makes a home as `useradd --create-home` does: parents belong to root, files of the skeleton to the user. */
export function createHome(tree: RootTree, files: AccountFiles, { home, uid, gid }: Account): void {
  if (tree.exists(home)) return
  for (let depth = 1; depth < depthOf(home); depth++) {
    const parent = `/${home.split('/').filter(Boolean).slice(0, depth).join('/')}`
    if (!tree.exists(parent)) tree.put(parent, newDirectory())
  }
  const mode = Number.parseInt(files.setting('HOME_MODE', '0755'), 8)
  const skeleton = tree.stat(files.setting('SKEL', '/etc/skel'))
  const made = skeleton?.kind === 'directory' ? copied(skeleton, uid, gid) : newDirectory()
  tree.put(home, { ...made, mode, uid, gid })
}

function copied<N extends RootNode>(node: N, uid: number, gid: number): N {
  switch (node.kind) {
    case 'file':
      return newFile(node.bytes, { mode: node.mode, uid, gid }) as N
    case 'link':
      return { ...newLink(node.target), uid, gid } as N
    case 'directory': {
      const entries = [...node.entries].map(([name, entry]) => [name, copied(entry, uid, gid)] as const)
      const directory = newDirectory({ mode: node.mode, uid, gid })
      return { ...directory, entries: new Map(entries) } as N
    }
  }
}

const mailbox = (files: AccountFiles, name: string) => `${files.setting('MAIL_DIR', '/var/mail')}/${name}`

/** Makes a mailbox for a new user when login.defs asks for it and the folder exists. */
export function createMailbox(tree: RootTree, files: AccountFiles, { name, uid, gid }: Account): void {
  if (files.setting('CREATE_MAIL_SPOOL', 'no').toLowerCase() !== 'yes') return
  const path = mailbox(files, name)
  if (tree.stat(parentFolderOf(path))?.kind !== 'directory' || tree.lstat(path)) return
  const mail = files.group('mail')
  tree.put(path, newFile(new Uint8Array(), mail ? { mode: 0o660, uid, gid: mail.gid } : { mode: 0o600, uid, gid }))
}

export function removeHome(tree: RootTree, files: AccountFiles, { name, uid, home }: Account): LoggedResult {
  const mail = mailbox(files, name)
  let stderr = tree.lstat(mail) ? '' : `userdel: ${name} mail spool (${mail}) not found\n`
  tree.remove(mail)
  const node = tree.stat(home)
  if (!node) stderr += `userdel: ${name} home directory (${home}) not found\n`
  else if (node.uid !== uid)
    return { code: 12, stderr: `${stderr}userdel: ${home} not owned by ${name}, not removing\n` }
  else tree.remove(home)
  return { code: 0, stderr }
}

/** Changes the owner of the old user's or group's files in a home to the new one. */
export function changeOwner(tree: RootTree, home: string, from: Account, to: Account): void {
  const node = tree.stat(home)
  if (node?.kind !== 'directory') return
  for (const owned of [node, ...[...tree.walk(home, node)].map(([, below]) => below)]) {
    if (owned.uid === from.uid) owned.uid = to.uid
    if (owned.gid === from.gid) owned.gid = to.gid
  }
}
