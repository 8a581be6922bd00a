import { readFile } from 'node:fs/promises'
import { replaceFile, UserError, userError } from '../../base/runtime/index.js'
import { newSshKey } from '../../targets/index.js'

/** Private host keys of the systems that a machine boots. */
export interface HostKeys {
  live: string
  installed: string
}

interface StoredAddresses {
  ports: Record<string, number>
  keys: Record<string, HostKeys>
}

/**
 * The ports and host keys that a run listens with, in a file: the process that goes on with it has the same ones. Machines
 * and their state keep them: one that boots while the run is killed fetches its medium from the port of before.
 */
export class SavedAddresses {
  private constructor(
    private readonly file: string,
    private readonly stored: StoredAddresses,
  ) {}

  /** @throws UserError `run-state` when there is a file that cannot be read */
  static async read(file: string): Promise<SavedAddresses> {
    try {
      return new SavedAddresses(file, JSON.parse(await readFile(file, 'utf8')) as StoredAddresses)
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return new SavedAddresses(file, { ports: {}, keys: {} })
      throw new UserError('run-state', `the addresses of a run in ${file} cannot be read`, {
        cause,
        remedy: 'begin anew with ironstage run --restart',
      })
    }
  }

  /**
   * Listens on the port of the process before; on a free one the first time.
   *
   * @param name `the BMC of node-1`; for messages too
   * @throws UserError `port-in-use` when another program has taken the port meanwhile
   */
  async open<T extends { readonly port: number }>(name: string, open: (port: number) => Promise<T>): Promise<T> {
    const before = this.stored.ports[name] ?? 0
    const listening = await open(before).catch((cause: unknown) => {
      if (before === 0 || userError(cause)?.code !== 'port-in-use') throw cause
      throw new UserError('port-in-use', `port ${before}, where ${name} was, is taken by another program`, {
        cause,
        remedy: 'end that program and go on, or begin anew with ironstage run --restart',
      })
    })
    this.stored.ports[name] = listening.port
    return listening
  }

  /** As {@link open}, on another port when that one is taken. */
  openAnywhere<T extends { readonly port: number }>(name: string, open: (port: number) => Promise<T>): Promise<T> {
    return this.open(name, open).catch((error: unknown) => {
      if (userError(error)?.code !== 'port-in-use') throw error
      delete this.stored.ports[name]
      return this.open(name, open)
    })
  }

  /** The host keys of a machine, which are made the first time. */
  hostKeys(host: string): HostKeys {
    return (this.stored.keys[host] ??= { live: newSshKey().private, installed: newSshKey().private })
  }

  /** Call it before anything can be told of the addresses. */
  save(): Promise<void> {
    return replaceFile(this.file, `${JSON.stringify(this.stored)}\n`)
  }
}
