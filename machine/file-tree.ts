import { LazyMap } from '../base/runtime/index.js'

/** Files of the running ramdisk, in memory until the next boot. Paths are absolute; errors have a `code` as those of node:fs. */
export interface FileTree {
  read(path: string): Uint8Array
  write(path: string, bytes: Uint8Array, options?: { mode?: number }): void
  mkdir(path: string, options?: { mode?: number }): void
  remove(path: string): void
  exists(path: string): boolean
  list(path: string): string[]
  stat(path: string): { kind: 'file' | 'directory'; mode: number; size: number }
  /** Target of a symbolic link; undefined for anything else. */
  link?(path: string): string | undefined
}

/** A file, folder or link of the tree. A link's target is absolute. */
export type TreeNode =
  | { kind: 'file'; mode: number; bytes: Uint8Array }
  | { kind: 'directory'; mode: number }
  | { kind: 'link'; target: string }

/** The files of the live image. They never change, and are made again when needed instead of being held. */
export type BaseTree = () => ReadonlyMap<string, TreeNode>

/** Called with a changed path. `undefined`: the path was removed. */
export type TreeChange = (path: string, node: TreeNode | undefined) => void

const EMPTY_DIRECTORY: TreeNode = { kind: 'directory', mode: 0o755 }

/** Number of links that Linux follows before ELOOP (MAXSYMLINKS). */
const MAX_FOLLOWED_LINKS = 40

/** An error as node's fs throws it. */
export function fileError(code: 'ENOENT' | 'ENOTDIR' | 'EISDIR' | 'ELOOP' | 'EROFS' | 'EIO', path: string): Error {
  const message = {
    ENOENT: 'no such file or directory',
    ENOTDIR: 'not a directory',
    EISDIR: 'is a directory',
    ELOOP: 'too many levels of symbolic links',
    EROFS: 'read-only file system',
    EIO: 'i/o error',
  }[code]
  return Object.assign(new Error(`${code}: ${message}, '${path}'`), { code, path })
}

/** The path made absolute, without `.`, `..`, doubled or trailing slashes. */
export function normalPath(path: string): string {
  if (path.startsWith('/') && !/\/(?:[./]|$)/.test(path)) return path
  const parts: string[] = []
  for (const part of path.split('/')) {
    if (part === '..') parts.pop()
    else if (part !== '' && part !== '.') parts.push(part)
  }
  return `/${parts.join('/')}`
}

export const parentPath = (path: string): string => path.slice(0, Math.max(1, path.lastIndexOf('/')))

/**
 * The root filesystem of a booted ramdisk: changes over the base image. Only changes are held in memory and stored in
 * the state folder, so that a thousand idle ramdisks need little of either.
 */
export class MemoryFileTree implements FileTree {
  readonly #base: BaseTree
  readonly #changes: LazyMap<string, TreeNode | undefined>
  readonly #changed: TreeChange
  #cached: WeakRef<ReadonlyMap<string, TreeNode>> | undefined

  /**
   * @param changes changes that an earlier process made in this boot
   * @param changed called at every further change
   */
  constructor(base: BaseTree, changes: Iterable<[string, TreeNode | undefined]> = [], changed: TreeChange = () => {}) {
    this.#base = base
    this.#changes = new LazyMap(changes)
    this.#changed = changed
  }

  /** Changes so far; undefined stands for a path that was removed. */
  changes(): [path: string, node: TreeNode | undefined][] {
    return [...this.#changes]
  }

  read(path: string): Uint8Array {
    const node = this.#find(path)
    if (node.kind === 'directory') throw fileError('EISDIR', path)
    return node.bytes
  }

  /** Creates parent folders; an existing file keeps its mode unless `mode` is set. */
  write(path: string, bytes: Uint8Array, options: { mode?: number } = {}): void {
    const real = this.resolve(path)
    const old = this.#node(real)
    if (old?.kind === 'directory') throw fileError('EISDIR', path)
    this.#makeParents(real)
    this.#set(real, {
      kind: 'file',
      mode: options.mode ?? (old?.kind === 'file' ? old.mode : 0o644),
      bytes: bytes.slice(),
    })
  }

  /** Creates parent folders; an existing folder stays as it is. */
  mkdir(path: string, options: { mode?: number } = {}): void {
    const real = this.resolve(path)
    const old = this.#node(real)
    if (old?.kind === 'directory') return
    if (old) throw fileError('ENOTDIR', path)
    this.#makeParents(real)
    this.#set(real, { kind: 'directory', mode: options.mode ?? 0o755 })
  }

  /** Removes a file, a link (not what it points at) or a folder with everything in it. */
  remove(path: string): void {
    const real = this.resolve(path, { last: false })
    const node = this.#node(real)
    if (!node) throw fileError('ENOENT', path)
    if (node.kind === 'directory') for (const below of this.#below(real)) this.#set(below, undefined)
    this.#set(real, undefined)
  }

  exists(path: string): boolean {
    return this.#node(this.resolve(path)) !== undefined
  }

  /** Names in a folder, sorted. */
  list(path: string): string[] {
    const real = this.resolve(path)
    const node = this.#node(real)
    if (!node) throw fileError('ENOENT', path)
    if (node.kind !== 'directory') throw fileError('ENOTDIR', path)
    const start = real === '/' ? 1 : real.length + 1
    const names = new Set<string>()
    for (const below of this.#below(real)) {
      const slash = below.indexOf('/', start)
      names.add(slash < 0 ? below.slice(start) : below.slice(start, slash))
    }
    return [...names].sort()
  }

  stat(path: string): { kind: 'file' | 'directory'; mode: number; size: number } {
    const node = this.#find(path)
    return node.kind === 'directory'
      ? { kind: 'directory', mode: node.mode, size: 4096 }
      : { kind: 'file', mode: node.mode, size: node.bytes.length }
  }

  /** Target of a link; undefined for anything else. */
  link(path: string): string | undefined {
    const node = this.#node(this.resolve(path, { last: false }))
    return node?.kind === 'link' ? node.target : undefined
  }

  /** The path with all links resolved, the last part's too unless `last: false`. */
  resolve(path: string, options: { last?: boolean } = {}): string {
    const last = options.last ?? true
    const normal = normalPath(path)
    const there = this.#node(normal)
    // Only real paths have nodes: a link's target is stored at its own path.
    if (there && there.kind !== 'link') return normal
    let todo = normal.split('/').slice(1)
    let done = ''
    for (let links = 0; todo.length > 0;) {
      const step: string = `${done}/${todo[0]!}`
      const node = this.#node(step)
      todo = todo.slice(1)
      if (node?.kind === 'link' && (last || todo.length > 0)) {
        if (++links > MAX_FOLLOWED_LINKS) throw fileError('ELOOP', path)
        todo = [...normalPath(node.target).split('/').slice(1), ...todo].filter((part) => part !== '')
        done = ''
      } else done = step
    }
    return done === '' ? '/' : normalPath(done)
  }

  #find(path: string): Exclude<TreeNode, { kind: 'link' }> {
    const node = this.#node(this.resolve(path))
    if (!node || node.kind === 'link') throw fileError('ENOENT', path)
    return node
  }

  #node(path: string): TreeNode | undefined {
    if (path === '/') return EMPTY_DIRECTORY
    return this.#changes.has(path) ? this.#changes.get(path) : this.#live().get(path)
  }

  *#below(path: string): Iterable<string> {
    const prefix = path === '/' ? '/' : `${path}/`
    for (const [at, node] of [...this.#changes]) if (node && at.startsWith(prefix)) yield at
    for (const at of this.#live().keys()) if (at.startsWith(prefix) && !this.#changes.has(at)) yield at
  }

  #makeParents(path: string): void {
    const parent = parentPath(path)
    const node = this.#node(parent)
    if (node?.kind === 'directory') return
    if (node) throw fileError('ENOTDIR', path)
    this.#makeParents(parent)
    this.#set(parent, EMPTY_DIRECTORY)
  }

  #set(path: string, node: TreeNode | undefined): void {
    if (node === undefined && !this.#live().has(path)) this.#changes.delete(path)
    else this.#changes.set(path, node)
    this.#changed(path, node)
  }

  #live(): ReadonlyMap<string, TreeNode> {
    const cached = this.#cached?.deref()
    if (cached) return cached
    const made = this.#base()
    this.#cached = new WeakRef(made)
    return made
  }
}
