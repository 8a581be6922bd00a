import type { TargetCommand, Executor, TargetFiles, RunningCommand } from '../../targets/index.js'
import type { RamdiskSession } from './ramdisk-session.js'

/** Reaches the session of the present boot; rejects while the machine is off or runs something else. */
export type ReachSession = <T>(use: (session: RamdiskSession) => Promise<T>) => Promise<T>

/** Executor of a machine, whose session is another one after each boot. */
export class SessionExecutor implements Executor {
  readonly files: TargetFiles
  readonly #reach: ReachSession

  constructor(reach: ReachSession) {
    this.#reach = reach
    this.files = new ReachedFiles(reach)
  }

  start(command: TargetCommand): Promise<RunningCommand> {
    return this.#reach((session) => session.start(command))
  }

  attach(id: string, offset: number): Promise<RunningCommand> {
    return this.#reach((session) => session.attach(id, offset))
  }
}

class ReachedFiles implements TargetFiles {
  readonly #reach: ReachSession

  constructor(reach: ReachSession) {
    this.#reach = reach
  }

  read(path: string): Promise<Uint8Array> {
    return this.#reach((session) => session.files.read(path))
  }

  write(path: string, bytes: Uint8Array, options?: { mode?: number }): Promise<void> {
    return this.#reach((session) => session.files.write(path, bytes, options))
  }

  remove(path: string): Promise<void> {
    return this.#reach((session) => session.files.remove(path))
  }

  exists(path: string): Promise<boolean> {
    return this.#reach((session) => session.files.exists(path))
  }

  list(path: string): Promise<string[]> {
    return this.#reach((session) => session.files.list(path))
  }
}
