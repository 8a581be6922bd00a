/** A moment of a lab to which it can go back. */
export interface LabSnapshot {
  readonly id: string
  /** In milliseconds since the epoch, in lab time. */
  readonly at: number
  /** How many calls are made again before the lab is there; 0 for a snapshot at rest, which is restored at once. */
  readonly repeats: number
}

/** The snapshots of a lab. */
export interface Snapshots {
  /**
   * Takes a snapshot as soon as everything of the present instant is done, also in the middle of a deployment.
   *
   * @throws UserError `snapshot-busy` when the lab is at work on something that it could not repeat
   */
  take(): Promise<LabSnapshot>
  /** The oldest first. */
  list(): readonly LabSnapshot[]
  /**
   * Brings the lab back: nodes, machines, disks, agents with their commands, clock, randomness and faults. What the lab was
   * doing ends; calls that wait for a node go on waiting for the node as it is then.
   *
   * @throws UserError `snapshot-unknown`; `snapshot-diverged` when repeating led elsewhere
   */
  restore(id: string): Promise<void>
  /** Brings the lab back to its start. */
  reset(): Promise<void>
  /**
   * Forgets a snapshot.
   *
   * @throws UserError `snapshot-unsupported` for the start of the lab
   */
  remove(id: string): void
  /**
   * A snapshot as the text of a file. It holds the passwords and configs of the lab in clear.
   *
   * @throws UserError `snapshot-unsupported` for a snapshot that cannot be repeated from the start
   */
  export(id: string): string
  /**
   * Adds the snapshot of such a file, of a lab with the same options.
   *
   * @throws UserError `snapshot-file` for a damaged file and one of another version; `snapshot-options` for another lab's
   */
  import(text: string): LabSnapshot
}

/** The snapshots of a lab that can be made a second time. */
export interface LabSnapshots<Fork> extends Snapshots {
  /** Makes a second lab from a snapshot, which goes on by itself; its start is the snapshot. Dispose of it at the end, too. */
  fork(id: string): Promise<Fork>
}
