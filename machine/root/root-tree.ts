import { fileError } from '../file-tree.js'

/** Who owns a thing of the tree, and what they may do with it: permission bits with setuid, setgid and sticky. */
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
  /** As written: relative or absolute. */
  target: string
}

export type RootNode = RootFile | RootDirectory | RootLink

/** Links of links are followed that deep, as Linux does, before ELOOP. */
const DEEPEST_LINK = 40

const LINK_MODE = 0o777

export const newDirectory = (owned: Partial<Owned> = {}): RootDirectory => ({
  ...{ kind: 'directory', mode: 0o755, uid: 0, gid: 0, entries: new Map() },
  ...owned,
})

export const newFile = (bytes: Uint8Array, owned: Partial<Owned> = {}): RootFile => ({
  ...{ kind: 'file', mode: 0o644, uid: 0, gid: 0, bytes },
  ...owned,
})

export const newLink = (target: string): RootLink => ({ kind: 'link', mode: LINK_MODE, uid: 0, gid: 0, target })

const names = (path: string): string[] => path.split('/').filter((name) => name !== '' && name !== '.')

export const baseName = (path: string): string => names(path).at(-1) ?? ''
export const folderOf = (path: string): string => `/${names(path).slice(0, -1).join('/')}`
/** How many names deep, 0 for the root. */
export const depthOf = (path: string): number => names(path).length

/**
 * The root filesystem of an installed system, with owners and links as Linux has them: a file that has two names is one
 * object in two folders. Paths are absolute; errors carry a node-style `code`.
 */
export class RootTree {
  readonly root: RootDirectory = newDirectory()

  /** The thing itself, links on the way followed; undefined when there is none. */
  lstat(path: string): RootNode | undefined {
    const place = this.#place(path)
    if (!place) return undefined
    return place.name === '' ? place.folder : place.folder.entries.get(place.name)
  }

  /** What a path leads to, every link followed. */
  stat(path: string): Exclude<RootNode, RootLink> | undefined {
    let at = path
    for (let links = 0; links <= DEEPEST_LINK; links++) {
      const node = this.lstat(at)
      if (node?.kind !== 'link') return node
      at = node.target.startsWith('/') ? node.target : `${folderOf(at)}/${node.target}`
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

  /** Puts a node under a name in an existing folder, in the place of what has it. */
  put(path: string, node: RootNode): void {
    const place = this.#place(path)
    if (!place) throw fileError('ENOENT', path)
    place.folder.entries.set(place.name, node)
  }

  /** Makes a folder and those above it that are missing, as `mkdir -p` does. */
  mkdirs(path: string, mode = 0o755): RootDirectory {
    const known = this.stat(path)
    if (known?.kind === 'directory') return known
    if (known || this.lstat(path)) throw fileError('ENOTDIR', path)
    const parent = this.mkdirs(folderOf(path), mode)
    const made = newDirectory({ mode })
    parent.entries.set(baseName(path), made)
    return made
  }

  /** Takes away a name, with all that is below it. Nothing happens when there is none. */
  remove(path: string): void {
    const place = this.#place(path)
    place?.folder.entries.delete(place.name)
  }

  /** Names in a folder, sorted; none when there is no such folder. */
  list(path: string): string[] {
    const node = this.stat(path)
    return node?.kind === 'directory' ? [...node.entries.keys()].sort() : []
  }

  /** Everything below the root by path, folders before what is in them, names in order. */
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
    const way: RootDirectory[] = [this.root]
    for (let links = 0; todo.length > 1;) {
      const [name, ...rest] = todo as [string, ...string[]]
      todo = rest
      if (name === '..') {
        if (way.length > 1) way.pop()
        continue
      }
      const next = way.at(-1)!.entries.get(name)
      if (next?.kind === 'directory') way.push(next)
      else if (next?.kind === 'link') {
        if (++links > DEEPEST_LINK) throw fileError('ELOOP', path)
        if (next.target.startsWith('/')) way.length = 1
        todo = [...names(next.target), ...todo]
        // The target's last part is one on the way like the others.
        if (todo.length === 0) break
      } else if (next) throw fileError('ENOTDIR', path)
      else return undefined
    }
    const name = todo[0] ?? ''
    if (name === '..') return { folder: way.at(-2) ?? this.root, name: '' }
    return { folder: way.at(-1)!, name }
  }
}
