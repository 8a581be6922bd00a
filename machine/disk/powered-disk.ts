import type { SimulatedDisk } from './block-device.js'
import { canAdopt, type AdoptingDevice, type ImageContents } from './described-disk.js'

/** The parts of a boot that all of its disks share. */
export interface BootOfDisks {
  /** Set at its end: every access rejects with the reason. */
  readonly over: { readonly reason: unknown } | undefined
  /** Called after each write. */
  wrote(disk: string, offset: number, length: number): void
  showsPartitions(disk: string): Promise<boolean>
}

/** A disk for one boot. */
export function whilePowered(device: SimulatedDisk, boot: BootOfDisks): SimulatedDisk {
  return canAdopt(device) ? new PoweredMemoryDisk(device, boot) : new PoweredDisk(device, boot)
}

class PoweredDisk<D extends SimulatedDisk> implements SimulatedDisk {
  constructor(
    protected readonly device: D,
    private readonly boot: BootOfDisks,
  ) {}

  get name(): string {
    return this.device.name
  }

  get size(): number {
    return this.device.size
  }

  get sectorSize(): number {
    return this.device.sectorSize
  }

  read(offset: number, length: number): Promise<Uint8Array> {
    return this.#gate(() => this.device.read(offset, length))
  }

  write(offset: number, bytes: Uint8Array): Promise<void> {
    return this.writing(offset, bytes.length, () => this.device.write(offset, bytes))
  }

  discard(offset: number, length: number): Promise<void> {
    return this.writing(offset, length, () => this.device.discard(offset, length))
  }

  flush(): Promise<void> {
    return this.#gate(() => this.device.flush())
  }

  showsPartitions(): Promise<boolean> {
    return this.boot.showsPartitions(this.device.name)
  }

  /** The disk belongs to the machine instead of the boot. */
  [Symbol.asyncDispose](): Promise<void> {
    return Promise.resolve()
  }

  protected async writing(offset: number, length: number, access: () => Promise<void>): Promise<void> {
    await this.#gate(access)
    this.boot.wrote(this.device.name, offset, Math.min(length, this.device.size - offset))
  }

  #gate<T>(access: () => Promise<T>): Promise<T> {
    const { over } = this.boot
    return over ? Promise.reject(over.reason as Error) : access()
  }
}

class PoweredMemoryDisk extends PoweredDisk<AdoptingDevice> implements AdoptingDevice {
  revision(): number | undefined {
    return this.device.revision()
  }

  adopt(offset: number, length: number, image: ImageContents): Promise<void> {
    return this.writing(offset, length, () => this.device.adopt(offset, length, image))
  }
}
