import type { Clock } from '../../base/runtime/index.js'
import type { Devices } from './devices.js'
import type { IgnitionLog } from './ignition-log.js'

/** A change of Ignition to a disk. It is checked but not made: the disk stays as it was installed. */
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
