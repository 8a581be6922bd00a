import type { Probe } from '../../base/runtime/index.js'
import type { SimulatedDisk } from './block-device.js'
import { WrappedDisk, type DiskAccess } from './wrapped-disk.js'

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

/** True if the kernel shows the partitions of a table that was written. */
export function showsPartitions(probe: Probe, place: Omit<PartitionsPoint, 'kind'>): Promise<boolean> {
  const point: PartitionsPoint = { kind: 'partitions', ...place }
  return probe.around(point, () => Promise.resolve(true))
}

/** A disk whose every access passes the probe, so that faults can strike it and the journal records it. */
export class ProbedDisk extends WrappedDisk {
  readonly #probe: Probe
  readonly #machine: string

  constructor(device: SimulatedDisk, probe: Probe, machine: string) {
    super(device)
    this.#probe = probe
    this.#machine = machine
  }

  /** A watched read may fail where nothing has changed. */
  override revision(): number | undefined {
    return this.#probe.watches('disk-read') ? undefined : super.revision()
  }

  protected override around<T>({ kind, offset, length }: DiskAccess, run: () => Promise<T>): Promise<T> {
    if (kind === 'flush') return run()
    const point: DiskPoint = { kind: `disk-${kind}`, machine: this.#machine, disk: this.name, offset, length }
    return this.#probe.watches(point.kind) ? this.#probe.around(point, run) : run()
  }

  override [Symbol.asyncDispose](): PromiseLike<void> {
    return this.device[Symbol.asyncDispose]()
  }
}
