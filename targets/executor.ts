import type { Clock } from '../runtime/index.js'
import type { StageAsset } from './asset.js'

/** Name of a run of a command on its target. */
export type RunId = string

/** How a command ended. `unknown`: the target can no longer say (it rebooted, its spool is gone). */
export type Exit =
  { kind: 'exited'; code: number } | { kind: 'signalled'; signal: string } | { kind: 'unknown'; why: string }

/** Bytes that a command printed. */
export interface OutputChunk {
  stream: 'stdout' | 'stderr'
  bytes: Uint8Array
}

/** A command for an {@link Executor}. */
export interface Command {
  /** Never interpreted by a shell. */
  argv: readonly [string, ...string[]]
  /** A plan really runs what reads and only prints what writes; a disk policy looks at what writes. */
  effect: 'reads' | 'writes'
  stdin?: Uint8Array
  /** Run under a pseudo-terminal: stdout and stderr come merged as stdout. */
  tty?: boolean
  /** Makes `start` idempotent: a run of this id that exists is attached to, never started twice. */
  id?: RunId
}

/** A command under way or ended on a target. */
export interface Run {
  readonly id: RunId
  /** For people, of a machine that is not simulated. */
  readonly target?: string
  /** Everything it printed since the offset it was attached at; ends when the command has. May be iterated once. */
  readonly output: AsyncIterable<OutputChunk>
  readonly exit: Promise<Exit>
  /** Ends the command with SIGTERM; `exit` says how it went. */
  cancel(): Promise<void>
}

/** Files of the target, by absolute path. Rejections carry a node-style `code` (`ENOENT` ...). */
export interface Files {
  read(path: string): Promise<Uint8Array>
  /** Creates parent folders; replaces atomically. */
  write(path: string, bytes: Uint8Array, options?: { mode?: number }): Promise<void>
  /** No error when there is none. */
  remove(path: string): Promise<void>
  exists(path: string): Promise<boolean>
  /** Names in a folder, sorted. */
  list(path: string): Promise<string[]>
}

/** How commands and files of a target are reached: a simulated machine, this host, SSH. */
export interface Executor {
  /**
   * Starts a command. An unknown program ends with exit code 127 and `NAME: command not found` on stderr; it is not a
   * rejection.
   */
  start(command: Command): Promise<Run>
  /** Follows a run again from a byte offset of its merged output. Rejects when the target does not know the id. */
  attach(id: RunId, offset: number): Promise<Run>
  readonly files: Files
}

/** What a target allows and has. Steps ask for capabilities, never for the kind of target. */
export type Capability =
  | 'power'
  | 'reboot'
  | 'efi-variables'
  | 'hostname'
  | 'software-raid'
  | 'burn-in'
  | 'cleaning'
  /** Leaving the machine to a user, or cutting it off its networks. */
  | 'hand-over'
  /** Running commands that nothing confines, where the target has nothing that could. */
  | 'unguarded'

/** Which disks a target's steps may write. Simulated targets allow all. */
export interface DiskPolicy {
  mayWrite(disk: { name: string; serial: string | null; wwn: string | null }): boolean
}

/** What a step acts on. */
export interface Target {
  /** For people: `sim machine-1`, `ssh://core@lab-7`. */
  readonly name: string
  readonly executor: Executor
  readonly disks: DiskPolicy
  readonly clock: Clock
  /** True where writes are only told: what a step has written there cannot be read back. */
  readonly planned?: boolean
  /** Folder for files that only the steps' own programs shall read; `/tmp` without. */
  readonly scratch?: string
  /**
   * Brings an image within reach of the target's programs, checked. Absent where they fetch for themselves, as in a plan,
   * which contacts nothing.
   */
  readonly stage?: StageAsset
  /** Path of a file of the target as seen by the programs that steps run there (a chroot may lie between). */
  hostPath(path: string): string
  has(capability: Capability): boolean
}
