import type { SimulatedDisk } from './block-device.js'
import { WrappedDisk, type DiskAccess } from './wrapped-disk.js'

/** The parts of a boot that all of its disks share. */
export interface BootOfDisks {
  /** Set at its end: every access rejects with the reason. */
  readonly over: { readonly reason: unknown } | undefined
  /** Called after each write. */
  wrote(disk: string, offset: number, length: number): void
  showsPartitions(disk: string): true | Promise<boolean>
}

/** A disk for one boot. */
export class PoweredDisk extends WrappedDisk {
  readonly #boot: BootOfDisks

  constructor(device: SimulatedDisk, boot: BootOfDisks) {
    super(device)
    this.#boot = boot
  }

  override showsPartitions(): true | Promise<boolean> {
    return this.#boot.showsPartitions(this.name)
  }

  protected override around<T>({ kind, offset, length }: DiskAccess, run: () => Promise<T>): Promise<T> {
    const { over } = this.#boot
    if (over) return Promise.reject(over.reason as Error)
    return kind === 'write' ? this.#changing(offset, length, run) : run()
  }

  async #changing<T>(offset: number, length: number, run: () => Promise<T>): Promise<T> {
    const result = await run()
    this.#boot.wrote(this.name, offset, Math.min(length, this.size - offset))
    return result
  }
}
