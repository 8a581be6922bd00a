import type { SpecConfig, SpecDirectory, SpecFile, SpecLink, SpecNode } from '../../ignition/index.js'
import { depthOf, parentFolderOf, newFile, newLink, type RootTree } from '../root/root-tree.js'
import type { AccountTools } from './account-tools.js'
import type { Resources } from './ignition-resources.js'
import { goQuoted, IgnitionFailure, type IgnitionLog } from './ignition-log.js'
import { cleanTarget, joinPath, lookUpNode, SYSROOT } from './tree-paths.js'
import { prefixFailures } from './users.js'

export interface EntriesWork {
  tree: RootTree
  tools: AccountTools
  log: IgnitionLog
  resources: Resources
}

type FilesystemEntry =
  | { kind: 'directory'; path: string; spec: SpecDirectory }
  | { kind: 'file'; path: string; spec: SpecFile }
  | { kind: 'link'; path: string; spec: SpecLink }

/** Makes directories, files and links, shallow ones first and hard links last. */
export async function createFilesystemEntries(
  work: EntriesWork,
  storage: NonNullable<SpecConfig['storage']>,
): Promise<void> {
  const entries = orderEntries(work.tree, storage)
  await prefixFailures('failed to create files')(() =>
    work.log.within('createFiles', () => createEntries(work, entries)),
  )
}

/** Makes one file that Ignition itself adds. */
export function createOwnFile(work: EntriesWork, spec: SpecFile): Promise<void> {
  const entry: FilesystemEntry = { kind: 'file', path: joinPath(work.tree, spec.path!), spec }
  return work.log.within('createFiles', () => createEntries(work, [entry]))
}

function orderEntries(
  tree: RootTree,
  { directories = [], files = [], links = [] }: NonNullable<SpecConfig['storage']>,
) {
  const seen = new Map<string, string>()
  const placed = <K extends FilesystemEntry['kind']>(kind: K, spec: SpecNode) => {
    const path = joinPath(tree, spec.path!)
    const other = seen.get(path)
    if (other !== undefined)
      throw new IgnitionFailure(
        `${kind} at ${spec.path} resolved to ${SYSROOT}${path} after symlink chasing, but another entry with path ${other} also resolves there`,
      )
    seen.set(path, spec.path!)
    return { kind, path, spec }
  }
  const entries = [
    ...directories.map((spec) => placed('directory', spec)),
    ...files.map((spec) => placed('file', spec)),
    ...links.map((spec) => placed('link', spec)),
  ] as FilesystemEntry[]
  const isHard = (entry: FilesystemEntry) => entry.kind === 'link' && entry.spec.hard === true
  const rest = entries.filter((entry) => !isHard(entry)).sort((a, b) => depthOf(a.path) - depthOf(b.path))
  return [...rest, ...entries.filter(isHard)]
}

async function createEntries(work: EntriesWork, entries: readonly FilesystemEntry[]): Promise<void> {
  for (const entry of entries) {
    if (entry.spec.overwrite) removeExisting(work.tree, entry.path)
    await prefixFailures(`error creating ${SYSROOT}${entry.path}`)(() => {
      switch (entry.kind) {
        case 'directory':
          return createDirectory(work, entry.path, entry.spec)
        case 'file':
          return createFile(work, entry.path, entry.spec)
        case 'link':
          return createLink(work, entry.path, entry.spec)
      }
    })
  }
}

function removeExisting(tree: RootTree, path: string): void {
  const full = SYSROOT + path
  try {
    lookUpNode(tree, path)
  } catch (error) {
    if (!(error instanceof IgnitionFailure)) throw error
    throw new IgnitionFailure(`error removing existing file ${full}: unlinkat ${full}: not a directory`)
  }
  tree.remove(path)
}

function createDirectory(work: EntriesWork, path: string, spec: SpecDirectory): void {
  const full = SYSROOT + path
  const old = lookFor(work.tree, path)
  if (!old) makeIgnitionFolders(work.tree, path, `failed to create directory ${full}: `)
  else if (old.kind !== 'directory')
    throw new IgnitionFailure(`error creating directory ${full}: A non-directory already exists and overwrite is false`)
  setPermissions(work, path, spec, spec.mode, `error setting directory permissions for ${full}`)
}

async function createFile(work: EntriesWork, path: string, spec: SpecFile): Promise<void> {
  const { tree, log } = work
  const full = SYSROOT + path
  const old = lookUpNode(tree, path)
  let { contents } = spec
  if (!old && contents?.source === undefined) contents = { ...contents, source: '' }
  if (old && old.kind !== 'file')
    throw new IgnitionFailure(
      `error creating file ${goQuoted(full)}: A non regular file exists there already and overwrite is false`,
    )
  if (old && contents?.source !== undefined)
    throw new IgnitionFailure(
      `error creating file ${goQuoted(full)}: A file exists there already and overwrite is false`,
    )
  const writes = [
    ...(contents?.source === undefined ? [] : [{ what: 'writing file', resource: contents, append: false }]),
    ...(spec.append ?? []).map((resource) => ({ what: 'appending to file', resource, append: true })),
  ]
  for (const { what, resource, append } of writes)
    await prefixFailures(`failed to create file ${goQuoted(full)}`)(() =>
      log.operation(`${what} ${goQuoted(full)}`, async () => {
        makeIgnitionFolders(tree, parentFolderOf(path))
        const bytes = await fetched(work, full, resource)
        const known = tree.lstat(path)
        if (append && known?.kind === 'file') known.bytes = Buffer.concat([known.bytes, bytes])
        else tree.put(path, newFile(bytes))
      }),
    )
  setPermissions(work, path, spec, spec.mode, `error setting file permissions for ${full}`)
}

async function fetched({ log, resources }: EntriesWork, full: string, resource: NonNullable<SpecFile['contents']>) {
  try {
    return await resources.bytes(resource)
  } catch (error) {
    if (error instanceof IgnitionFailure) log.line('crit', `Error fetching file ${goQuoted(full)}: ${error.message}`)
    throw error
  }
}

async function createLink(work: EntriesWork, path: string, spec: SpecLink): Promise<void> {
  const { tree, log } = work
  const full = SYSROOT + path
  const target = spec.target!
  const old = lookFor(tree, path)
  if (old && spec.hard) {
    const aim = tree.lstat(joinPath(tree, target))
    if (!aim)
      throw new IgnitionFailure(
        `error creating hard link ${full}: target does not exist or stat() returned an err: lstat ${SYSROOT}${joinPath(tree, target)}: no such file or directory`,
      )
    if (aim !== old)
      throw new IgnitionFailure(
        `error creating hard link ${full}: a file already exists at that path but is not the target and overwrite is false`,
      )
    return log.line('info', `Hardlink ${full} to ${target} already exists, doing nothing`)
  }
  if (old && old.kind !== 'link')
    throw new IgnitionFailure(
      `error creating symlink ${full}: a non-symlink already exists at that path and overwrite is false`,
    )
  if (old?.kind === 'link') {
    if (cleanTarget(old.target) !== cleanTarget(target))
      throw new IgnitionFailure(
        `error creating symlink ${full}: a symlink exists at that path but points to ${old.target}, not ${target} and overwrite is false`,
      )
    return log.line('info', `Symlink ${full} to ${target} already exists, doing nothing`)
  }
  await prefixFailures(`failed to create link ${goQuoted(full)}`)(() =>
    log.operation(`writing link ${goQuoted(full)} -> ${goQuoted(target)}`, () => {
      makeIgnitionFolders(tree, parentFolderOf(path), 'could not create leading directories: ')
      if (!spec.hard) {
        tree.put(path, newLink(target))
        return setPermissions(work, path, spec, undefined, `error setting permissions of ${full}`)
      }
      const aim = tree.lstat(joinPath(tree, target))
      const failed = (why: string) => new IgnitionFailure(`link ${SYSROOT}${joinPath(tree, target)} ${full}: ${why}`)
      if (!aim) throw failed('no such file or directory')
      if (aim.kind === 'directory') throw failed('operation not permitted')
      tree.put(path, aim)
    }),
  )
}

function lookFor(tree: RootTree, path: string): ReturnType<typeof lookUpNode> {
  try {
    return lookUpNode(tree, path)
  } catch (error) {
    if (!(error instanceof IgnitionFailure)) throw error
    throw new IgnitionFailure(`stat() failed on ${SYSROOT}${path}: ${error.message}`)
  }
}

/** Makes missing folders as Ignition does: owned by root, with mode 0755. */
export function makeIgnitionFolders(tree: RootTree, path: string, before = ''): void {
  try {
    tree.mkdirs(path)
  } catch (error) {
    if (!(error instanceof Error) || !('code' in error)) throw error
    let at = path
    while (at !== '/' && !tree.exists(at)) at = parentFolderOf(at)
    throw new IgnitionFailure(`${before}mkdir ${SYSROOT}${at}: not a directory`)
  }
}

/** Sets the owner before the mode, since a change of owner clears setuid and setgid. */
function setPermissions(
  { tree, tools }: EntriesWork,
  path: string,
  { user, group }: SpecNode,
  mode: number | undefined,
  failure: string,
): void {
  const node = tree.lstat(path)!
  const owner = ownerNow(tree, path)
  const numberOf = (kind: 'user' | 'group', name: string): number => {
    const found = kind === 'user' ? tools.account(name)?.uid : tools.group(name)?.gid
    if (found !== undefined) return found
    throw new IgnitionFailure(
      `${failure}: failed to determine correct uid and gid for ${SYSROOT}${path}: no such ${kind} ${goQuoted(name)}: ${kind === 'user' ? 'user: unknown user' : 'group: unknown group'} ${kind} ${goQuoted(name)} not found`,
    )
  }
  const uid = user?.id ?? (user?.name ? numberOf('user', user.name) : owner.uid)
  const gid = group?.id ?? (group?.name ? numberOf('group', group.name) : owner.gid)
  Object.assign(node, { uid, gid })
  if (node.kind === 'file') node.mode &= node.mode & 0o010 ? ~0o6000 : ~0o4000
  if (mode !== undefined) node.mode = mode & 0o7777
}

/** Owner of a node; for a link that of its target, as Ignition sees it from the initramfs, where only relative links resolve. */
function ownerNow(tree: RootTree, path: string): { uid: number; gid: number } {
  const node = tree.lstat(path)
  const root = { uid: 0, gid: 0 }
  if (node?.kind !== 'link') return node ?? root
  if (node.target.startsWith('/')) return root
  try {
    return tree.stat(path) ?? root
  } catch {
    // The link leads through a file, or is circular.
    return root
  }
}
