import type { BmcChange } from '../../drivers/bmc-hardware.js'

/** Work that a step of an interface other than deploy asks of the BMC. */
export type StepWork =
  | { do: 'nothing' }
  | { do: 'fail'; error: string }
  /** `reboot` when it takes effect at a boot. */
  | { do: 'change'; changes: [BmcChange, ...BmcChange[]]; reboot: boolean }
