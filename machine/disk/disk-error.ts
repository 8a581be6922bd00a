/** A failed access to a disk, with the errno name that a program on the machine sees. */
export class DiskError extends Error {
  override name = 'DiskError'
  readonly code: 'ENOSPC' | 'EIO'

  constructor(code: 'ENOSPC' | 'EIO', disk: string, offset: number) {
    const what = code === 'ENOSPC' ? 'no space left' : 'input/output error'
    super(`${what} on ${disk} at byte ${offset}`)
    this.code = code
  }
}
