import type { MachinePace } from '../machine/index.js'

/**
 * Typical times of a rack server: seconds for its BMC to switch, minutes for firmware and a network-booted ramdisk, less
 * for a local disk. Images are written at the speed of a SATA SSD.
 */
export const REALISTIC_MACHINES: MachinePace = {
  power: 3_000,
  bootRamdisk: 180_000,
  bootDisk: 90_000,
  writeRate: 250_000_000,
}
