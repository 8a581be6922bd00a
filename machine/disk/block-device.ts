/**
 * A disk of a simulated machine. Offsets and lengths in bytes, any alignment. Rejections carry a `code`: `ENOSPC` past
 * the end, `EIO` for a medium error.
 */
export interface BlockDevice extends AsyncDisposable {
  /** Kernel name: `sda`. */
  readonly name: string
  readonly size: number
  /** 512 or 4096. */
  readonly sectorSize: number
  /** Reads past the end come back short. */
  read(offset: number, length: number): Promise<Uint8Array>
  write(offset: number, bytes: Uint8Array): Promise<void>
  /** Makes a range read as zeros, without storing them where the backing can help it. */
  discard(offset: number, length: number): Promise<void>
  flush(): Promise<void>
  /** Another number after every change; only of a disk that nobody can change behind its back. */
  revision?(): number
}
