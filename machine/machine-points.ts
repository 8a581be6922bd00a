import type { MachinePower } from './machine.js'

/** Probe point around a press of a machine's power button, by its BMC or from inside. */
export interface PowerRequestPoint {
  readonly kind: 'power'
  /** Id of the machine. */
  readonly machine: string
  readonly target: MachinePower | 'reboot'
  readonly soft: boolean
}

/** Probe point after the power of a machine has changed. */
export interface PowerPoint {
  readonly kind: 'power'
  readonly machine: string
  readonly power: MachinePower
  /** Lab time at which it was switched on. */
  readonly at?: number
}

/** Probe point after the hardware of a machine has changed. */
export interface HardwarePoint {
  readonly kind: 'hardware'
  readonly machine: string
  /** A sentence for the journal. */
  readonly what: string
}

/** Probe point after a line has come to the console of a machine. */
export interface ConsolePoint {
  readonly kind: 'console'
  readonly machine: string
  readonly line: string
}
