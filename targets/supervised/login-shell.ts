import { UserError } from '../../runtime/index.js'

/**
 * The one way to a real target: a command line handed to the login shell of its user, as `ssh HOST LINE` or
 * `sh -c LINE` do. Everything else (files, runs, following a run again) is scripts sent over it, so a target on this
 * host and one behind SSH differ in nothing but this.
 */
export interface LoginShell {
  /** For people: `this host`, `core@lab-7`. */
  readonly name: string
  /**
   * Hands one line to the login shell, which may be csh or fish: callers send words that every shell reads alike, and
   * the real script on stdin.
   *
   * @param options.stdin all of the standard input, which ends after it; without it stdin is empty
   * @param options.signal cuts the channel, like `cut`
   * @throws {LinkLost} when the target cannot be reached, or could not say that it started the line. A line that never
   *   started and one whose start is uncertain look alike: scripts are written to be sent again.
   */
  open(line: string, options?: { stdin?: Uint8Array; signal?: AbortSignal }): Promise<ShellChannel>
  /** Whether the target answers now, without starting anything where that can be told otherwise. Never rejects. */
  alive(): Promise<boolean>
}

/** A line under way. Both streams must be read; each may be iterated once. */
export interface ShellChannel {
  readonly stdout: AsyncIterable<Uint8Array>
  readonly stderr: AsyncIterable<Uint8Array>
  /**
   * How the line ended: its code; null where a signal or the shell's end left none. Rejects with {@link LinkLost} when
   * the link went before the end was told; the streams then just end. What was printed before the cut has been handed
   * out.
   */
  readonly exit: Promise<number | null>
  /**
   * Drops the channel at once, as a lost link would; what was started by the line may live on. No error when it has
   * ended.
   */
  cut(): void
}

/** The link to a target went, or never came to be. Says nothing about what runs there. */
export class LinkLost extends UserError {
  override readonly name = 'LinkLost'

  constructor(message: string, options: { cause?: unknown } = {}) {
    super('link-lost', message, { ...options, remedy: 'see that the machine is on and that the way to it works' })
  }
}
