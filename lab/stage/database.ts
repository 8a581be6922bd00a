import { rm } from 'node:fs/promises'
import { openStore, type Store, type StoreState, type StoreView } from '../../ironic-mock/index.js'
import { held, type Clock } from '../../runtime/index.js'
import { observedStore } from './observed-store.js'

type Whole = Store & StoreView

/** Ironic's database, which may be lost while the rest of the stage goes on: what reads it, reads the current one. */
export class CurrentDatabase implements AsyncDisposable {
  readonly #parts: { path: string | undefined; clock: Clock; changed: (uuid: string) => void }
  #store: Whole
  #watched: Whole

  constructor(parts: { path: string | undefined; clock: Clock; changed: (uuid: string) => void }) {
    this.#parts = parts
    this.#store = openStore(parts)
    this.#watched = observedStore(this.#store, parts.changed)
  }

  get records(): StoreView['records'] {
    return this.#store.records
  }

  /** The database, reporting changes of nodes after their commit. */
  get watched(): Whole {
    return this.#watched
  }

  /** Puts an empty database in the place of this one, and reports all of its nodes as gone. */
  async lose(): Promise<void> {
    const lost = [...this.#store.records.nodes.keys()]
    await this.#store[Symbol.asyncDispose]()
    const { path, changed } = this.#parts
    if (path !== undefined) await this.#remove(path)
    this.#store = openStore(this.#parts)
    this.#watched = observedStore(this.#store, changed)
    for (const uuid of lost) changed(uuid)
  }

  take(): StoreState {
    return this.#store.take()
  }

  /** Puts a database with these contents in the place of this one. Nothing is reported of its nodes. */
  async restore(from: StoreState): Promise<void> {
    const { path, changed } = this.#parts
    await this.#store[Symbol.asyncDispose]()
    if (path !== undefined) await this.#remove(path)
    this.#store = openStore({ ...this.#parts, from })
    this.#watched = observedStore(this.#store, changed)
  }

  #remove(path: string): Promise<void> {
    return held(this.#parts.clock, `removing ${path}`, async () => {
      for (const end of ['', '-wal', '-shm']) await rm(path + end, { force: true })
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#store[Symbol.asyncDispose]()
  }
}
