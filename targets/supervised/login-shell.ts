import { UserError } from '../../base/runtime/index.js'
import { ERRORS } from '../errors.js'

/** Line that replaces the login shell, csh or fish too, by the shell that scripts are written for. */
export const PLAIN_SHELL = 'exec /bin/sh'

/**
 * Access to a real target: runs a command line in the login shell of its user, as `ssh HOST LINE` or `sh -c LINE` do.
 * Files and runs are scripts that are sent over it, so that a target on this host and one behind SSH differ in this
 * interface alone.
 */
export interface LoginShell {
  /** Name for messages: `this host`, `core@lab-7`. */
  readonly name: string
  /**
   * Runs one line in the login shell, which may be csh or fish: callers send words that every shell reads alike, and the
   * real script on stdin.
   *
   * @param options.stdin the whole standard input; empty by default
   * @param options.signal cuts the channel, like `cut`
   * @throws {LinkLost} when the target cannot be reached, or did not confirm that it started the line. A line that never
   *   started and one whose start is uncertain look alike, so scripts must be idempotent.
   */
  open(line: string, options?: { stdin?: Uint8Array; signal?: AbortSignal }): Promise<ShellChannel>
  /** True if the target answers now; starts no program if it can avoid that. Never rejects. */
  alive(): Promise<boolean>
}

/** A running line. Both streams must be read; each may be iterated once. */
export interface ShellChannel {
  readonly stdout: AsyncIterable<Uint8Array>
  readonly stderr: AsyncIterable<Uint8Array>
  /**
   * Exit code of the line; null when a signal or the shell's end left none. Rejects with {@link LinkLost} when the link is
   * lost before the exit code arrives; the streams then end after the output that came before.
   */
  readonly exit: Promise<number | null>
  /**
   * Drops the channel at once, as a lost link would; programs that the line started may continue. No error when the line
   * has ended.
   */
  cut(): void
}

/** The link to a target is lost or cannot be made; programs on the target may still run. */
export class LinkLost extends UserError {
  override readonly name = 'LinkLost'

  constructor(message: string, options: { cause?: unknown } = {}) {
    super('link-lost', message, {
      ...options,
      remedy: ERRORS['link-lost'].remedy,
    })
  }
}
