import type { SimulatedDisk } from './block-device.js'
import { canAdopt, type AdoptingDevice } from './described-disk.js'

/** An access to a disk. Discarding and adopting are writes. */
export interface DiskAccess {
  readonly kind: 'read' | 'write' | 'flush'
  /** In bytes; 0 for a flush. */
  readonly offset: number
  readonly length: number
}

const FLUSH: DiskAccess = { kind: 'flush', offset: 0, length: 0 }

/** A disk as one of its users sees it. A class, since each machine has several: closures would take twice the memory. */
export abstract class WrappedDisk implements SimulatedDisk {
  constructor(protected readonly device: SimulatedDisk) {}

  /** Runs an access, or rejects in its place. */
  protected abstract around<T>(access: DiskAccess, run: () => Promise<T>): Promise<T>

  get name(): string {
    return this.device.name
  }

  get size(): number {
    return this.device.size
  }

  get sectorSize(): number {
    return this.device.sectorSize
  }

  showsPartitions(): true | Promise<boolean> {
    return this.device.showsPartitions?.() ?? true
  }

  revision(): number | undefined {
    return this.device.revision?.()
  }

  /** Undefined for a disk that cannot adopt. */
  get adopt(): AdoptingDevice['adopt'] | undefined {
    const { device } = this
    if (!canAdopt(device)) return undefined
    return (offset, length, image) => this.#write(offset, length, () => device.adopt(offset, length, image))
  }

  read(offset: number, length: number): Promise<Uint8Array> {
    return this.around({ kind: 'read', offset, length }, () => this.device.read(offset, length))
  }

  write(offset: number, bytes: Uint8Array): Promise<void> {
    return this.#write(offset, bytes.length, () => this.device.write(offset, bytes))
  }

  discard(offset: number, length: number): Promise<void> {
    return this.#write(offset, length, () => this.device.discard(offset, length))
  }

  flush(): Promise<void> {
    return this.around(FLUSH, () => this.device.flush())
  }

  edit<T>(work: () => Promise<T>): Promise<T> {
    return this.device.edit?.(work) ?? work()
  }

  /** Leaves the disk open: it outlives its user. */
  [Symbol.asyncDispose](): PromiseLike<void> {
    return Promise.resolve()
  }

  #write(offset: number, length: number, run: () => Promise<void>): Promise<void> {
    return this.around({ kind: 'write', offset, length }, run)
  }
}
