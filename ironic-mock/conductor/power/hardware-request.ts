import type { MediaDevice } from '../../../wire/index.js'
import type { BmcChange, BootMode } from '../../drivers/hardware.js'

/** A change of the hardware that the conductor makes after it has answered the client; `last_error` says why it failed. */
export type HardwareRequest =
  | { do: 'boot mode'; mode: BootMode }
  | { do: 'secure boot'; on: boolean }
  | { do: 'attach'; device: MediaDevice; url: string }
  | { do: 'detach'; devices: MediaDevice[] | null }
  | { do: 'console'; on: boolean }
  /** A vendor method that does not wait; null where there is nothing outside to do. */
  | { do: 'vendor'; change: BmcChange | null }
