import type { TreeNode } from '../file-tree.js'

/** Stored form of a file of the tree; `null` for a removed file of the base. */
export type FileRecord = { kind: 'file'; mode: number; base64: string } | Exclude<TreeNode, { kind: 'file' }> | null

/** The stored form of a file. */
export const toRecord = (node: TreeNode | undefined): FileRecord =>
  node === undefined
    ? null
    : node.kind === 'file'
      ? { kind: 'file', mode: node.mode, base64: Buffer.from(node.bytes).toString('base64') }
      : node

export const fromRecord = (record: FileRecord): TreeNode | undefined =>
  record === null
    ? undefined
    : record.kind === 'file'
      ? { kind: 'file', mode: record.mode, bytes: Buffer.from(record.base64, 'base64') }
      : record
