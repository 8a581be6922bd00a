import type { JournalLine } from './system-journal.js'

/**
 * The OS on a machine's disk while it runs, as its own programs and a user who is logged in have it. Every call rejects
 * while the machine is off, boots, or runs something else.
 */
export interface RunningOs {
  /** Writes a file, and makes the folders above it. */
  write(path: string, bytes: Uint8Array, mode?: number): Promise<void>
  remove(path: string): Promise<void>
  /** Adds a line to the journal. */
  log(from: string, priority: JournalLine['priority'], message: string): void
  /**
   * `rpm-ostree rebase`: pulls an image by its digest, once, and stages it for the next boot. Layers that are there are not
   * fetched again.
   *
   * @throws PullFailure
   */
  rebase(image: string): Promise<void>
  /** Reboots from inside: the staged deployment becomes the one of the next boot. */
  reboot(): Promise<void>
  /** Calls back after each change of a file, as inotify does. */
  watch(changed: (path: string) => void): Disposable
}
