/**
 * A disk of a simulated machine. Offsets and lengths in bytes, any alignment. Rejections carry a `code`: `ENOSPC` past
 * the end, `EIO` for a medium error.
 */
export interface SimulatedDisk extends AsyncDisposable {
  /** Kernel name: `sda`. */
  readonly name: string
  readonly size: number
  /** 512 or 4096. */
  readonly sectorSize: number
  /** A read past the end returns fewer bytes. */
  read(offset: number, length: number): Promise<Uint8Array>
  write(offset: number, bytes: Uint8Array): Promise<void>
  /** Makes a range read as zeros, without storing them where the backing allows it. */
  discard(offset: number, length: number): Promise<void>
  flush(): Promise<void>
  /**
   * Runs an edit of a file system: where the disk is a file, its writes stay or are lost together when the process is killed.
   * Absent where nothing outlives the process.
   */
  edit?<T>(work: () => Promise<T>): Promise<T>
  /**
   * True if the kernel shows the partitions of the table that is on the disk. Absent where it always does. The bytes can be
   * read either way.
   */
  showsPartitions?(): true | Promise<boolean>
  /**
   * Number that differs after every change; undefined while reads may differ without one. Absent, or always undefined, when
   * the disk can be changed from outside.
   */
  revision?(): number | undefined
}

/** The part of a disk by which its partitions and filesystems are read. */
export type ReadableDisk = Pick<SimulatedDisk, 'name' | 'size' | 'sectorSize' | 'read'>
