import type { Devices } from './devices.js'

/** A part of the disks without which an installed CoreOS does not boot. */
interface BootNeed {
  what: string
  isThere: (devices: Devices) => boolean
}

const BOOT_NEEDS: readonly BootNeed[] = [
  { what: 'the filesystem labelled root', isThere: (devices) => devices.hasFilesystem('root') },
  { what: 'the filesystem labelled boot', isThere: (devices) => devices.hasFilesystem('boot') },
  {
    // Firmware of one kind needs the first, of the other the second.
    what: 'the partition of the boot loader (EFI-SYSTEM or BIOS-BOOT)',
    isThere: (devices) => devices.hasPartition('EFI-SYSTEM') || devices.hasPartition('BIOS-BOOT'),
  },
]

/** The needs of a boot that the disks meet now; what an image never had is no loss. */
export const metNeeds = (devices: Devices): BootNeed[] => BOOT_NEEDS.filter(({ isThere }) => isThere(devices))

/** Needs that were met before a plan and are not after it, as words. */
export const lostNeeds = (before: readonly BootNeed[], devices: Devices): string[] =>
  before.filter(({ isThere }) => !isThere(devices)).map(({ what }) => what)
