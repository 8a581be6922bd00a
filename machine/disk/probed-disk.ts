import type { Probe } from '../../base/runtime/index.js'
import type { SimulatedDisk } from './block-device.js'
import { canAdopt, type AdoptingDevice, type ImageContents } from './described-disk.js'

/** Probe point of an access: `length` bytes from `offset`. A discard is a write of zeros. */
export interface DiskPoint {
  readonly kind: 'disk-read' | 'disk-write'
  /** Id of the machine. */
  readonly machine: string
  /** Kernel name of the disk. */
  readonly disk: string
  readonly offset: number
  readonly length: number
}

/** Probe point of a program that looks for the partitions of a disk; a fault that answers false keeps them from it. */
export interface PartitionsPoint {
  readonly kind: 'partitions'
  readonly machine: string
  readonly disk: string
  /** Lab time at which the table was written, in this boot. */
  readonly written: number
}

/** Whether the kernel shows the partitions of a table that was written. */
export function showsPartitions(probe: Probe, place: Omit<PartitionsPoint, 'kind'>): Promise<boolean> {
  const point: PartitionsPoint = { kind: 'partitions', ...place }
  return probe.around(point, () => Promise.resolve(true))
}

/** A disk whose every access passes the probe, so that faults can strike it and the journal records it. */
export function probeDisk(device: SimulatedDisk, probe: Probe, machine: string): SimulatedDisk {
  return canAdopt(device) ? new ProbedMemoryDisk(device, probe, machine) : new ProbedDisk(device, probe, machine)
}

class ProbedDisk<D extends SimulatedDisk> implements SimulatedDisk {
  constructor(
    protected readonly device: D,
    protected readonly probe: Probe,
    private readonly machine: string,
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
    return this.around('disk-read', offset, length, () => this.device.read(offset, length))
  }

  write(offset: number, bytes: Uint8Array): Promise<void> {
    return this.around('disk-write', offset, bytes.length, () => this.device.write(offset, bytes))
  }

  discard(offset: number, length: number): Promise<void> {
    return this.around('disk-write', offset, length, () => this.device.discard(offset, length))
  }

  flush(): Promise<void> {
    return this.device.flush()
  }

  [Symbol.asyncDispose](): PromiseLike<void> {
    return this.device[Symbol.asyncDispose]()
  }

  protected around<T>(kind: DiskPoint['kind'], offset: number, length: number, run: () => Promise<T>): Promise<T> {
    const { probe, machine, device } = this
    if (!probe.watches(kind)) return run()
    const point: DiskPoint = { kind, machine, disk: device.name, offset, length }
    return probe.around(point, run)
  }
}

class ProbedMemoryDisk extends ProbedDisk<AdoptingDevice> implements AdoptingDevice {
  /** A watched read may fail where nothing has changed. */
  revision(): number | undefined {
    return this.probe.watches('disk-read') ? undefined : this.device.revision()
  }

  adopt(offset: number, length: number, image: ImageContents): Promise<void> {
    return this.around('disk-write', offset, length, () => this.device.adopt(offset, length, image))
  }
}
