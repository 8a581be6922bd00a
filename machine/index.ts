/** The whole simulated computer. */
export { defaultMachineSpec } from './default-spec.js'
export * from './machine.js'
export { openMachines, type MachinesOptions } from './machines.js'
export { MachineUnreachable, type CommandEnd, type CommandPoint } from './ramdisk-session.js'
