import type { MachinePace } from '../machine/index.js'

/**
 * How long a rack server takes, as people who wait for them say: seconds for its BMC to switch, minutes for firmware and
 * a network-booted ramdisk, less for a local disk; an image written at the speed of a SATA SSD.
 */
export const REALISTIC_MACHINES: MachinePace = {
  power: 3_000,
  bootRamdisk: 180_000,
  bootDisk: 90_000,
  writeRate: 250_000_000,
}
