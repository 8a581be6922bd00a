import type { Clock } from '../../runtime/index.js'
import type { Devices } from './devices.js'
import type { IgnitionLog } from './ignition-log.js'

/** A change that Ignition would make to a disk. It is checked and not made: the disk stays as it was installed. */
export interface PlannedDiskChange {
  section: 'disks' | 'raid' | 'luks' | 'filesystems'
  device: string
  what: string
}

export interface DisksWork {
  devices: Devices
  clock: Clock
  signal: AbortSignal
  log: IgnitionLog
  plan: PlannedDiskChange[]
}
