import { newDirectory, RootTree, type RootNode } from './root-tree.js'

/** Stored form of a node of a root filesystem; `hard` is the path of a file that this is another name of. */
export type RootRecord =
  | { kind: 'file'; mode: number; uid: number; gid: number; base64: string }
  | { kind: 'directory'; mode: number; uid: number; gid: number }
  | { kind: 'link'; uid: number; gid: number; target: string }
  | { kind: 'hard'; to: string }

/** Paths that differ from the tree that every installation begins with; null for a removed one. */
export type RootChanges = [path: string, record: RootRecord | null][]

/** Records of every path of a tree, in an order in which they can be made. */
export function recordsOf(tree: RootTree): Map<string, RootRecord> {
  const first = new Map<RootNode, string>()
  const records = new Map<string, RootRecord>()
  for (const [path, node] of tree.walk()) {
    const { mode, uid, gid } = node
    const known = first.get(node)
    first.set(node, known ?? path)
    if (known !== undefined) records.set(path, { kind: 'hard', to: known })
    else if (node.kind === 'directory') records.set(path, { kind: 'directory', mode, uid, gid })
    else if (node.kind === 'link') records.set(path, { kind: 'link', uid, gid, target: node.target })
    else records.set(path, { kind: 'file', mode, uid, gid, base64: Buffer.from(node.bytes).toString('base64') })
  }
  return records
}

export function treeOf(records: Iterable<[string, RootRecord]>): RootTree {
  const tree = new RootTree()
  const made = new Map<string, RootNode>()
  for (const [path, record] of records) {
    const node = record.kind === 'hard' ? made.get(record.to)! : makeRootNode(record)
    made.set(path, node)
    tree.put(path, node)
  }
  return tree
}

export function changesBetween(base: ReadonlyMap<string, RootRecord>, tree: RootTree): RootChanges {
  const records = recordsOf(tree)
  const changed = [...records].filter(([path, record]) => !isSameRecord(base.get(path), record))
  const gone = [...base.keys()].filter((path) => !records.has(path)).map((path) => [path, null] as const)
  return [...changed, ...gone.map(([path]) => [path, null] as [string, null])]
}

export function withChanges(base: ReadonlyMap<string, RootRecord>, changes: RootChanges): RootTree {
  const records = new Map(base)
  for (const [path, record] of changes)
    if (record) records.set(path, record)
    else records.delete(path)
  // Folders sort before their entries, and a file before its other names.
  return treeOf([...records].sort(([a], [b]) => comparePaths(a, b)))
}

/** The order of {@link RootTree.walk}: name by name. */
function comparePaths(a: string, b: string): number {
  const left = a.split('/')
  const right = b.split('/')
  for (let at = 0; at < Math.min(left.length, right.length); at++)
    if (left[at] !== right[at]) return left[at]! < right[at]! ? -1 : 1
  return left.length - right.length
}

const isSameRecord = (a: RootRecord | undefined, b: RootRecord): boolean => JSON.stringify(a) === JSON.stringify(b)

function makeRootNode(record: Exclude<RootRecord, { kind: 'hard' }>): RootNode {
  switch (record.kind) {
    case 'directory':
      return newDirectory(record)
    case 'link':
      return { ...record, mode: 0o777 }
    case 'file': {
      const { mode, uid, gid, base64 } = record
      return { kind: 'file', mode, uid, gid, bytes: Buffer.from(base64, 'base64') }
    }
  }
}
