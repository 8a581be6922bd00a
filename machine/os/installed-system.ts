import { baseRoot } from '../root/base-root.js'
import { changesBetween, recordsOf, withChanges, type RootChanges, type RootRecord } from '../root/root-records.js'
import type { AccountsRelease } from '../root/release-accounts.js'
import type { RootTree } from '../root/root-tree.js'
import type { OsState } from './deployments.js'
import { Journal, type JournalLine } from './system-journal.js'

export type { JournalLine }

/** Store of the parts of an installed system. */
export interface SystemStore {
  put(name: SystemPart, value: () => unknown): void
  /** Tells of a change that is stored with another one. */
  note(): void
}

export type SystemPart = 'root' | 'journal' | 'os'

/** The trees with which installations begin. They are made once, and for each machine only the differences are stored. */
const baseTrees = new Map<AccountsRelease, ReadonlyMap<string, RootRecord>>()

function baseRecords(release: AccountsRelease): ReadonlyMap<string, RootRecord> {
  const known = baseTrees.get(release) ?? recordsOf(baseRoot(release))
  baseTrees.set(release, known)
  return known
}

interface StoredRoot {
  disk: string
  /** The accounts of the tree from which `changes` lead; Fedora CoreOS's where a store of an earlier version has none. */
  release?: AccountsRelease
  changes: RootChanges
}

/**
 * State of an installed system: its root filesystem, its journal and its deployments. It outlives boots and restarts of
 * ironstage, until another system has its first boot on the machine.
 */
export class InstalledSystem {
  readonly #store: SystemStore
  #root: StoredRoot | null
  #journal: Journal
  #os: OsState | null
  #journalQueued = false

  constructor(store: SystemStore, stored: ReadonlyMap<string, unknown> = new Map()) {
    this.#store = store
    this.#root = (stored.get('root') ?? null) as StoredRoot | null
    this.#journal = new Journal(stored.get('journal') as JournalLine[] | undefined)
    this.#os = (stored.get('os') ?? null) as OsState | null
  }

  /** The root filesystem; undefined before a first boot, and when the system is on another disk. */
  tree(disk?: string): RootTree | undefined {
    const root = this.#root
    if (!root || (disk !== undefined && root.disk !== disk)) return undefined
    return withChanges(baseRecords(root.release ?? 'fcos'), root.changes)
  }

  /**
   * @param disk kernel name of the disk that it is on
   * @param release whose accounts its image has
   */
  keepTree(disk: string, release: AccountsRelease, tree: RootTree): void {
    const changes = changesBetween(baseRecords(release), tree)
    this.#root = { disk, release, changes }
    this.#store.put('root', () => this.#root)
  }

  /** Changes the root filesystem of the system that is there. */
  edit(change: (tree: RootTree) => void): void {
    const tree = this.tree()
    const root = this.#root
    if (!tree || !root) return
    change(tree)
    this.keepTree(root.disk, root.release ?? 'fcos', tree)
  }

  /** Removes the state of an earlier system, at the first boot of a new one. */
  begin(): void {
    this.#root = this.#os = null
    this.#journal = new Journal()
    for (const part of ['root', 'os', 'journal'] as const) this.#store.put(part, () => this.#valueOf(part))
  }

  get journal(): readonly JournalLine[] {
    return this.#journal.lines
  }

  print(line: JournalLine): void {
    this.#journal.add(line)
    this.#store.note()
    if (this.#journalQueued) return
    // The record is the whole journal, so queue it once for all lines until it is written.
    this.#journalQueued = true
    this.#store.put('journal', () => {
      this.#journalQueued = false
      return this.journal
    })
  }

  get os(): OsState | null {
    return this.#os
  }

  /** True if the update to the cluster's node image is not done yet. */
  get isPivoting(): boolean {
    const { pivot = null } = this.#os ?? {}
    return pivot !== null && pivot.state !== 'done'
  }

  keepOs(os: OsState): void {
    this.#os = os
    this.#store.put('os', () => this.#os)
  }

  /** The parts that differ from those of a disk without a system. */
  take(): [part: SystemPart, value: unknown][] {
    const parts: SystemPart[] = ['root', 'journal', 'os']
    const values = parts.map((part): [SystemPart, unknown] => [part, this.#valueOf(part)])
    return values.filter(([part, value]) => (part === 'journal' ? this.#journal.lines.length > 0 : value !== null))
  }

  #valueOf(part: SystemPart): unknown {
    return part === 'root' ? this.#root : part === 'os' ? this.#os : this.journal
  }
}
