import type { TargetFiles } from '../../targets/index.js'
import type { FileView } from '../programs/files/file-view.js'

/** The session of a ramdisk, as its files need it. */
export interface FilesOfSession {
  /** @throws the reason, once the boot is over */
  throwIfOver(): void
  view(): FileView
  /** Stores the changes. */
  flush(): Promise<void>
}

/** The files of a booted ramdisk, as they are reached from outside. */
export class SessionFiles implements TargetFiles {
  readonly #session: FilesOfSession

  constructor(session: FilesOfSession) {
    this.#session = session
  }

  async read(path: string): Promise<Uint8Array> {
    return this.#powered().read(path)
  }

  async write(path: string, bytes: Uint8Array, options?: { mode?: number }): Promise<void> {
    await this.#powered().write(path, bytes, options)
    await this.#session.flush()
  }

  async remove(path: string): Promise<void> {
    const view = this.#powered()
    if (await view.exists(path)) await view.remove(path)
    await this.#session.flush()
  }

  async exists(path: string): Promise<boolean> {
    return this.#powered().exists(path)
  }

  async list(path: string): Promise<string[]> {
    return this.#powered().list(path)
  }

  #powered(): FileView {
    this.#session.throwIfOver()
    return this.#session.view()
  }
}
