import type { TreeNode } from '../file-tree.js'
import type { StoredRun } from './run-log.js'

/** The booted ramdisk: its changed files, and its programs, which have ended. */
export interface SessionState {
  readonly files: readonly (readonly [path: string, node: TreeNode | undefined])[]
  readonly runs: readonly (readonly [id: string, record: StoredRun])[]
}
