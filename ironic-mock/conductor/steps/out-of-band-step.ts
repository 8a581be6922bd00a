import type { ArgsInfo, StepInterface } from '../../../base/wire/index.js'

/** A step that the conductor runs itself, in the format of `driver_internal_info`. */
export interface OutOfBandStep {
  step: string
  priority: number
  abortable: boolean
  argsinfo: ArgsInfo | null
  interface: StepInterface
  requires_ramdisk?: boolean
}
