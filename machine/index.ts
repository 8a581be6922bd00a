/** The whole simulated computer. */
export { defaultMachineSpec } from './default-spec.js'
export * from './machine.js'
export { openMachines, type MachinesOptions } from './machines.js'
export { MachineUnreachable, type CommandEnd, type CommandPoint } from './ramdisk-session.js'
export { checkImage, type CheckedImage } from './disk/check-image.js'
export { compareWithImage, type ImageComparison } from './disk/compare-with-image.js'
export { inspectDisk, type BootReport, type DiskReport } from './disk/inspect-disk.js'
export type { DiskPoint } from './disk/probed-disk.js'
