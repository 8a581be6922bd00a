import type { MediaDevice } from '../../../base/wire/index.js'
import type { BmcChange, BootMode } from '../../drivers/bmc-hardware.js'

/** A change of the hardware that runs after the client was answered; its error goes to `last_error`. */
export type HardwareRequest =
  | { do: 'boot mode'; mode: BootMode }
  | { do: 'secure boot'; on: boolean }
  | { do: 'attach'; device: MediaDevice; url: string }
  | { do: 'detach'; devices: MediaDevice[] | null }
  | { do: 'console'; on: boolean }
  /** An asynchronous vendor method; null when it changes nothing on the BMC. */
  | { do: 'vendor'; change: BmcChange | null }
