import { rm } from 'node:fs/promises'
import { openStore, type Store, type StoreView } from '../../ironic-mock/index.js'
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
    const { path, clock, changed } = this.#parts
    if (path !== undefined)
      await held(clock, `removing ${path}`, async () => {
        for (const end of ['', '-wal', '-shm']) await rm(path + end, { force: true })
      })
    this.#store = openStore(this.#parts)
    this.#watched = observedStore(this.#store, changed)
    for (const uuid of lost) changed(uuid)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#store[Symbol.asyncDispose]()
  }
}
