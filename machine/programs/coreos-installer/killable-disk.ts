import type { SimulatedDisk } from '../../disk/block-device.js'
import { WrappedDisk, type DiskAccess } from '../../disk/wrapped-disk.js'

/** A disk that rejects every access once its program was killed, so that nothing is cleaned up, as with SIGKILL. */
export class KillableDisk extends WrappedDisk {
  readonly #signal: AbortSignal

  constructor(device: SimulatedDisk, signal: AbortSignal) {
    super(device)
    this.#signal = signal
  }

  protected override async around<T>(_access: DiskAccess, run: () => Promise<T>): Promise<T> {
    this.#signal.throwIfAborted()
    const result = await run()
    this.#signal.throwIfAborted()
    return result
  }
}
