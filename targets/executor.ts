import type { Clock, UserError } from '../base/runtime/index.js'
import type { StageAsset } from './asset.js'

/** Name of a run of a command on its target. */
export type RunId = string

/** Result of a command. `unknown`: the target has lost it (it rebooted, its spool is gone). */
export type CommandExit =
  { kind: 'exited'; code: number } | { kind: 'signalled'; signal: string } | { kind: 'unknown'; why: string }

/** Bytes that a command printed. */
export interface OutputChunk {
  stream: 'stdout' | 'stderr'
  bytes: Uint8Array
}

/** A command for an {@link Executor}. */
export interface TargetCommand {
  /** Never interpreted by a shell. */
  argv: readonly [string, ...string[]]
  /** A plan runs commands that read and only prints those that write; a disk policy checks those that write. */
  effect: 'reads' | 'writes'
  stdin?: Uint8Array
  /** Run under a pseudo-terminal: stdout and stderr come merged as stdout. */
  tty?: boolean
  /** Makes `start` idempotent: `start` attaches to a run that already has this id. */
  id?: RunId
}

/** Output of a command, chunk by chunk. */
export interface CommandOutput extends AsyncIterable<OutputChunk> {
  /** All chunks, once the command has ended: cheaper for who does not follow it. Absent where it is not. */
  readonly whole?: () => Promise<readonly OutputChunk[]>
}

/** A command under way or ended on a target. */
export interface RunningCommand {
  readonly id: RunId
  /** Name for messages; absent on simulated machines. */
  readonly target?: string
  /** Output since the offset of `attach`; ends with the command. May be iterated once. */
  readonly output: CommandOutput
  readonly exit: Promise<CommandExit>
  /** Sends SIGTERM to the command; `exit` resolves as usual. */
  cancel(): Promise<void>
}

/** Files of the target, by absolute path. Rejections carry a node-style `code` (`ENOENT` ...). */
export interface TargetFiles {
  read(path: string): Promise<Uint8Array>
  /** Creates parent folders; replaces atomically. */
  write(path: string, bytes: Uint8Array, options?: { mode?: number }): Promise<void>
  /** Succeeds when there is no such file. */
  remove(path: string): Promise<void>
  exists(path: string): Promise<boolean>
  /** Names in a folder, sorted. */
  list(path: string): Promise<string[]>
}

/** Runs commands and reads and writes files on a target: a simulated machine, this host, or a host behind SSH. */
export interface Executor {
  /**
   * Starts a command. An unknown program ends with exit code 127 and `NAME: command not found` on stderr; it is not a
   * rejection.
   */
  start(command: TargetCommand): Promise<RunningCommand>
  /** Follows a run from a byte offset of its merged output. Rejects when the target does not know the id. */
  attach(id: RunId, offset: number): Promise<RunningCommand>
  readonly files: TargetFiles
}

/** Actions that a target may allow. Steps ask for capabilities, never for the kind of target. */
export type TargetCapability =
  | 'power'
  | 'reboot'
  | 'efi-variables'
  | 'hostname'
  | 'software-raid'
  | 'burn-in'
  | 'cleaning'
  /** Handing the machine over to a user, or cutting it off its networks. */
  | 'hand-over'
  /** Running commands unconfined on a target that cannot confine them. */
  | 'unguarded'

/** Which disks a target's steps may write. Simulated targets allow all. */
export interface DiskPolicy {
  mayWrite(disk: { name: string; serial: string | null; wwn: string | null }): boolean
}

/** The machine or disk that a step acts on. */
export interface Target {
  /** Name for messages: `sim machine-1`, `ssh://core@lab-7`. */
  readonly name: string
  readonly executor: Executor
  readonly disks: DiskPolicy
  readonly clock: Clock
  /** True where writes are only listed: a step cannot read back what it wrote. */
  readonly planned?: boolean
  /** Reason why coreos-installer will fail there after it has written. */
  readonly installerFails?: UserError
  /** False where the kernel reads no GPT or no udevd runs: there lsblk shows neither tables nor labels. */
  readonly readsPartitions?: boolean
  /** Folder for files that only the steps' own programs may read; `/tmp` by default. */
  readonly scratch?: string
  /**
   * Checks an image and makes it readable for the target's programs. Absent where programs fetch images themselves, and
   * in a plan, which contacts nothing.
   */
  readonly stage?: StageAsset
  /** On a target whose disk is a file: its path, and the bytes that are left on its file system. */
  readonly diskFile?: () => Promise<{ path: string; roomLeft: number }>
  /** Path of a file of the target as seen by the programs that steps run there (a chroot may lie between). */
  hostPath(path: string): string
  has(capability: TargetCapability): boolean
}
