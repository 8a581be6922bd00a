import { fileError } from '../file-tree.js'

/** Owner and mode of a node; the mode includes setuid, setgid and sticky. */
export interface Owned {
  mode: number
  uid: number
  gid: number
}

export interface RootFile extends Owned {
  kind: 'file'
  bytes: Uint8Array
}

export interface RootDirectory extends Owned {
  kind: 'directory'
  entries: Map<string, RootNode>
}

export interface RootLink extends Owned {
  kind: 'link'
  /** The target as it was written, relative or absolute. */
  target: string
}

export type RootNode = RootFile | RootDirectory | RootLink

/** Number of links that Linux follows before ELOOP (MAXSYMLINKS). */
const MAX_ROOT_LINKS = 40

const LINK_MODE = 0o777

export const newDirectory = (owned: Partial<Owned> = {}): RootDirectory => ({
  kind: 'directory',
  mode: 0o755,
  uid: 0,
  gid: 0,
  entries: new Map(),
  ...owned,
})

export const newFile = (bytes: Uint8Array, owned: Partial<Owned> = {}): RootFile => ({
  kind: 'file',
  mode: 0o644,
  uid: 0,
  gid: 0,
  bytes,
  ...owned,
})

export const newLink = (target: string): RootLink => ({ kind: 'link', mode: LINK_MODE, uid: 0, gid: 0, target })

const names = (path: string): string[] => path.split('/').filter((name) => name !== '' && name !== '.')

export const baseName = (path: string): string => names(path).at(-1) ?? ''
export const parentFolderOf = (path: string): string => `/${names(path).slice(0, -1).join('/')}`
/** Number of names in a path, 0 for the root. */
export const depthOf = (path: string): number => names(path).length

/**
 * The root filesystem of an installed system, with owners and links as Linux has them: a file with two names is one
 * object in two folders. Paths are absolute; errors have a `code` as those of node:fs.
 */
export class RootTree {
  readonly root: RootDirectory = newDirectory()

  /** The node at a path. Links are followed except the last; undefined when there is none. */
  lstat(path: string): RootNode | undefined {
    const place = this.#place(path)
    if (!place) return undefined
    return place.name === '' ? place.folder : place.folder.entries.get(place.name)
  }

  /** The node at a path, every link followed. */
  stat(path: string): Exclude<RootNode, RootLink> | undefined {
    let at = path
    for (let links = 0; links <= MAX_ROOT_LINKS; links++) {
      const node = this.lstat(at)
      if (node?.kind !== 'link') return node
      at = node.target.startsWith('/') ? node.target : `${parentFolderOf(at)}/${node.target}`
    }
    throw fileError('ELOOP', path)
  }

  exists(path: string): boolean {
    return this.stat(path) !== undefined
  }

  /** The bytes of a file, links followed; undefined when there is none. */
  read(path: string): Uint8Array | undefined {
    const node = this.stat(path)
    return node?.kind === 'file' ? node.bytes : undefined
  }

  /** Text of a file; empty when there is none. */
  text(path: string): string {
    return Buffer.from(this.read(path) ?? []).toString()
  }

  /** Puts a node into an existing folder; it replaces a node of the same name. */
  put(path: string, node: RootNode): void {
    const place = this.#place(path)
    if (!place) throw fileError('ENOENT', path)
    place.folder.entries.set(place.name, node)
  }

  /** Makes a folder and its missing parents, as `mkdir -p` does. */
  mkdirs(path: string, mode = 0o755): RootDirectory {
    const known = this.stat(path)
    if (known?.kind === 'directory') return known
    if (known || this.lstat(path)) throw fileError('ENOTDIR', path)
    const parent = this.mkdirs(parentFolderOf(path), mode)
    const made = newDirectory({ mode })
    parent.entries.set(baseName(path), made)
    return made
  }

  /** Removes a path with all below it. No error when there is none. */
  remove(path: string): void {
    const place = this.#place(path)
    place?.folder.entries.delete(place.name)
  }

  /** Names in a folder, sorted; none when there is no such folder. */
  list(path: string): string[] {
    const node = this.stat(path)
    return node?.kind === 'directory' ? [...node.entries.keys()].sort() : []
  }

  /** Every node below the root with its path, folders before their entries, names in order. */
  *walk(path = '', folder: RootDirectory = this.root): Generator<[path: string, node: RootNode]> {
    for (const name of [...folder.entries.keys()].sort()) {
      const node = folder.entries.get(name)!
      yield [`${path}/${name}`, node]
      if (node.kind === 'directory') yield* this.walk(`${path}/${name}`, node)
    }
  }

  /** The folder that holds a path, and its name there. */
  #place(path: string): { folder: RootDirectory; name: string } | undefined {
    let todo = names(path)
    const folders: RootDirectory[] = [this.root]
    for (let links = 0; todo.length > 1;) {
      const [name, ...rest] = todo as [string, ...string[]]
      todo = rest
      if (name === '..') {
        if (folders.length > 1) folders.pop()
        continue
      }
      const next = folders.at(-1)!.entries.get(name)
      if (next?.kind === 'directory') folders.push(next)
      else if (next?.kind === 'link') {
        if (++links > MAX_ROOT_LINKS) throw fileError('ELOOP', path)
        if (next.target.startsWith('/')) folders.length = 1
        todo = [...names(next.target), ...todo]
        // The last part of the target is handled like the others.
        if (todo.length === 0) break
      } else if (next) throw fileError('ENOTDIR', path)
      else return undefined
    }
    const name = todo[0] ?? ''
    if (name === '..') return { folder: folders.at(-2) ?? this.root, name: '' }
    return { folder: folders.at(-1)!, name }
  }
}
