/** Rights of one command beyond reading. The kernel denies everything not named here. */
export interface CellNeeds {
  /** True if the named disk may be written; otherwise it can only be read. */
  writesDisk: boolean
  /** Capabilities beyond {@link ALWAYS}. */
  capabilities: readonly string[]
  /** The target's networks; without it the command has no network at all. */
  network: boolean
  /** Partitions come and go while the command runs, and their nodes must appear at once. */
  partitions: boolean
  /** udevd's control socket, by which `udevadm settle` asks whether it is idle. */
  udevControl: boolean
  /** Sockets with names in the file system: programs that it starts talk to each other by them. */
  unixSockets: boolean
  /** EFI variables may be written. */
  efiVariables: boolean
  /** sysfs may be written, as md needs it. */
  sysfs: boolean
  /** Other device nodes, as names or patterns below /dev. */
  devices: readonly string[]
  /** Files of the target may be written, because the target is disposable. */
  files: boolean
}

/** Needs of a command that only reads. */
export const READ_ONLY_NEEDS: CellNeeds = {
  writesDisk: false,
  capabilities: [],
  network: false,
  partitions: false,
  udevControl: false,
  unixSockets: false,
  efiVariables: false,
  sysfs: false,
  devices: [],
  files: false,
}

/** Capabilities of every command: it acts as root on the few files that it sees. */
export const ALWAYS = ['chown', 'dac_override', 'fowner', 'fsetid', 'kill', 'setgid', 'setuid'] as const

/** Capabilities on a disposable target; none of them reaches hardware, the kernel or other processes. */
export const DISPOSABLE = [
  'sys_admin',
  'sys_chroot',
  'net_admin',
  'net_raw',
  'net_bind_service',
  'setpcap',
  'setfcap',
  'sys_nice',
  'sys_resource',
  'ipc_lock',
  'audit_write',
  'dac_read_search',
] as const
