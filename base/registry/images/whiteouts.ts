/** Effect of an entry of a layer on the layers below it. */
export type Whiteout =
  /** Null for a reserved name, which hides nothing. */
  | { hides: 'path'; path: string | null }
  /** All that the lower layers have in a folder. */
  | { hides: 'folder'; path: string }

const WHITEOUT_PREFIX = '.wh.'
const OPAQUE_NAME = '.wh..wh..opq'

/** Reads the name of an entry (OCI image spec 1.1, layer.md); undefined for one that is no whiteout. */
export function whiteoutOf(path: string): Whiteout | undefined {
  const [folder, name] = splitPath(path)
  if (name === OPAQUE_NAME) return { hides: 'folder', path: folder }
  if (!name.startsWith(WHITEOUT_PREFIX)) return undefined
  const hidden = name.slice(WHITEOUT_PREFIX.length)
  // Names that begin with .wh..wh. are reserved; without a name nothing can be hidden.
  if (hidden === '' || hidden.startsWith('.wh.')) return { hides: 'path', path: null }
  return { hides: 'path', path: folder === '' ? hidden : `${folder}/${hidden}` }
}

export function splitPath(path: string): [folder: string, name: string] {
  const slash = path.lastIndexOf('/')
  return slash < 0 ? ['', path] : [path.slice(0, slash), path.slice(slash + 1)]
}

/** `a/b`, `a` for `a/b/c` */
export function parentsOf(path: string): string[] {
  const parents: string[] = []
  for (let slash = path.lastIndexOf('/'); slash >= 0; slash = slash === 0 ? -1 : path.lastIndexOf('/', slash - 1))
    parents.push(path.slice(0, slash))
  return parents
}
