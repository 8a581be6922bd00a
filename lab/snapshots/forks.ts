import { UserError } from '../../base/runtime/index.js'
import type { StoredSnapshot } from './snapshots.js'
import { ERRORS } from '../errors.js'

/** A lab of its own with the options of another one, on a port of its own, at a snapshot of that one. */
export interface ForkedLab extends AsyncDisposable {
  /** URL of its Ironic, without `/v1`. */
  readonly url: string
  /** File with its generated certificate, for clients to trust. */
  readonly caFile?: string | null
}

/** Makes a lab from a snapshot. */
export type Forking = (from: StoredSnapshot) => Promise<ForkedLab>

export interface Fork {
  readonly id: string
  /** The snapshot that it began at. */
  readonly snapshot: string
  readonly url: string
  readonly caFile: string | null
}

interface OpenFork {
  readonly lab: Promise<ForkedLab>
  fork: Fork | undefined
}

/** Forks at once: each is a whole lab. */
const MAX_FORKS = 20

/** The forks of a lab that were asked for over HTTP. They end with the lab, if not before. */
export class Forks implements AsyncDisposable {
  readonly #forks = new Map<string, OpenFork>()
  readonly #make: Forking | undefined
  readonly #report: (what: string) => void
  #count = 0

  /**
   * @param make absent for a lab without sockets
   * @param report writes a sentence into the journal
   */
  constructor(make: Forking | undefined, report: (what: string) => void) {
    this.#make = make
    this.#report = report
  }

  /** @throws UserError `snapshot-unsupported`; `fork-limit`; `snapshot-diverged` */
  async open(from: StoredSnapshot): Promise<Fork> {
    if (!this.#make)
      throw new UserError('snapshot-unsupported', 'this lab has no sockets, and neither would its fork', {
        remedy: 'call lab.snapshots.fork(id), or let the lab listen',
      })
    if (this.#forks.size >= MAX_FORKS)
      throw new UserError('fork-limit', `there are ${MAX_FORKS} forks of this lab already`, {
        remedy: 'end one: DELETE /_lab/forks/ID; GET /_lab/forks lists them',
      })
    const id = `fork-${++this.#count}`
    const opened: OpenFork = { lab: this.#make(from), fork: undefined }
    this.#forks.set(id, opened)
    try {
      const { url, caFile = null } = await opened.lab
      this.#report(`${id} goes on from ${from.id} at ${url}`)
      return (opened.fork = { id, snapshot: from.id, url, caFile })
    } catch (error) {
      this.#forks.delete(id)
      throw error
    }
  }

  list(): Fork[] {
    return [...this.#forks.values()].flatMap(({ fork }) => fork ?? [])
  }

  /** @throws UserError `no-such-fork` */
  async end(id: string): Promise<void> {
    const opened = this.#forks.get(id)
    if (!opened?.fork)
      throw new UserError('no-such-fork', `there is no fork ${id}`, { remedy: ERRORS['no-such-fork'].remedy })
    this.#forks.delete(id)
    await (await opened.lab)[Symbol.asyncDispose]()
    this.#report(`${id} has ended`)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const all = [...this.#forks.values()]
    this.#forks.clear()
    // One that could not be opened has failed for its caller.
    await Promise.allSettled(all.map(async ({ lab }) => (await lab)[Symbol.asyncDispose]()))
  }
}
