/** What the kernel lets one command do beyond reading. Everything not named here is taken away. */
export interface CellNeeds {
  /** Whether the named disk may be written; a command that only reads gets it for reading only. */
  writesDisk: boolean
  /** Capabilities beside those that every command keeps. */
  capabilities: readonly string[]
  /** The target's own networks. Without it the command has no network at all. */
  network: boolean
  /** Partitions come and go while the command runs: their nodes must appear at once. */
  partitions: boolean
  /** udevd's control socket, by which `udevadm settle` asks whether it is idle. */
  udevControl: boolean
  /** EFI variables may be written. */
  efiVariables: boolean
  /** sysfs may be written, as md needs it. */
  sysfs: boolean
  /** Other device nodes, as names or patterns below /dev. */
  devices: readonly string[]
  /** Files of the target may be written: nothing on it matters. */
  files: boolean
}

/** What a command has that only looks, or only writes bytes to the named disk. */
export const LEAST: CellNeeds = {
  writesDisk: false,
  capabilities: [],
  network: false,
  partitions: false,
  udevControl: false,
  efiVariables: false,
  sysfs: false,
  devices: [],
  files: false,
}

/** Kept by every command: it acts as root on the few things that it sees. */
export const ALWAYS = ['chown', 'dac_override', 'fowner', 'fsetid', 'kill', 'setgid', 'setuid'] as const

/** Kept where nothing on the target matters. What reaches hardware, the kernel or other processes is not among it. */
export const DISPOSABLE = [
  ...['sys_admin', 'sys_chroot', 'net_admin', 'net_raw', 'net_bind_service', 'setpcap', 'setfcap', 'sys_nice'],
  ...['sys_resource', 'ipc_lock', 'audit_write', 'dac_read_search'],
] as const
