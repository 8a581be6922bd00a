import { emptyState, openStore, type SharedDatabase, type StoreState, type StoreView } from '../../ironic-mock/index.js'
import { UserError, type Clock } from '../../base/runtime/index.js'
import { observedStore, type ViewedStore } from './observed-store.js'

interface DatabaseParts {
  path: string | undefined
  clock: Clock
  /** @param isOwn false where another process has changed the node */
  changed: (uuid: string, isOwn: boolean) => void
  /** Hears which changes a power cut has taken. */
  onLoss: (sentence: string) => void
  /** The database of several processes, in the place of one's own. */
  shared: SharedDatabase | undefined
}

/** Ironic's database, which may be lost while the rest of the stage goes on: what reads it, reads the current one. */
export class CurrentDatabase implements AsyncDisposable {
  readonly #parts: DatabaseParts
  #store: ViewedStore
  #watched: ViewedStore

  constructor(parts: DatabaseParts) {
    this.#parts = parts
    const { shared, changed } = parts
    this.#store = shared?.store ?? openStore(parts)
    this.#watched = observedStore(this.#store, this.#changed)
    this.#store.others?.watchFollowed((nodes) => nodes.forEach((uuid) => changed(uuid, false)))
  }

  readonly #changed = (uuid: string): void => this.#parts.changed(uuid, true)

  /** The database of several processes; undefined for one of this process alone. */
  get shared(): SharedDatabase | undefined {
    return this.#parts.shared
  }

  get records(): StoreView['records'] {
    return this.#store.records
  }

  /** A reason why it cannot be asked now; null when it can. */
  get trouble(): string | null {
    return this.#store.others?.session.isReady === false ? 'the database cannot be reached' : null
  }

  /** The database, reporting changes of nodes after their commit. */
  get watched(): ViewedStore {
    return this.#watched
  }

  /** @throws UserError `shared-database` where other processes have it too */
  checkOwn(): void {
    if (this.#parts.shared)
      throw new UserError(
        'shared-database',
        'this database is also of other processes, and is neither lost nor replaced',
      )
  }

  /** Puts an empty database in the place of this one, and reports all of its nodes as gone. */
  async lose(): Promise<void> {
    const lost = [...this.#store.records.nodes.keys()]
    await this.restore(emptyState())
    for (const uuid of lost) this.#changed(uuid)
  }

  take(): StoreState {
    return this.#store.take()
  }

  /** Puts a database with these contents in the place of this one. Nothing is reported of its nodes. */
  async restore(from: StoreState): Promise<void> {
    this.checkOwn()
    await this.#store[Symbol.asyncDispose]()
    this.#store = openStore({ ...this.#parts, from })
    this.#watched = observedStore(this.#store, this.#changed)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#store[Symbol.asyncDispose]()
  }
}
