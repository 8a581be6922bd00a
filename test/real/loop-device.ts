import { succeeds } from './peers.js'

/** A file as a block device with partitions. Needs root. */
export class LoopDevice implements AsyncDisposable {
  private constructor(
    /** The file. */
    readonly file: string,
    /** The path of the block device. */
    readonly device: string,
  ) {}

  /** Attaches a device to a file that exists. */
  static async attach(file: string, { sectorSize = 512 }: { sectorSize?: number } = {}): Promise<LoopDevice> {
    const options = ['--find', '--show', '--partscan', '--sector-size', String(sectorSize)]
    const device = (await succeeds('losetup', ...options, file)).trim()
    if (!/^\/dev\/loop\d+$/.test(device)) throw new Error(`losetup printed ${JSON.stringify(device)}`)
    return new LoopDevice(file, device)
  }

  /** Makes a sparse file, or replaces the file of that name, and attaches a device to it. */
  static async create(file: string, size: string): Promise<LoopDevice> {
    await succeeds('rm', '-f', file)
    await succeeds('truncate', '-s', size, file)
    return LoopDevice.attach(file)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await succeeds('losetup', '--detach', this.device)
  }
}
