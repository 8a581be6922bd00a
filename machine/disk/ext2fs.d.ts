/** The parts of the package that are used; it ships no types. Checked against 4.2.5. */
declare module 'ext2fs' {
  export interface Disk {
    read(buffer: Buffer, bufferOffset: number, length: number, fileOffset: number): Promise<unknown>
    write(buffer: Buffer, bufferOffset: number, length: number, fileOffset: number): Promise<unknown>
    discard(offset: number, length: number): Promise<unknown>
    flush(): Promise<unknown>
  }

  export interface Stats {
    mode: number
    uid: number
    gid: number
    size: number
    isDirectory(): boolean
    isFile(): boolean
    isSymbolicLink(): boolean
  }

  export interface Filesystem {
    readonly constants: {
      O_RDONLY: number
      O_WRONLY: number
      O_RDWR: number
      O_CREAT: number
      O_EXCL: number
      O_TRUNC: number
      O_NOFOLLOW: number
    }
    open(path: string, flags: string | number, mode?: number): Promise<{ readonly fd: number }>
    close(fd: number): Promise<void>
    read(fd: number, buffer: Buffer, offset: number, length: number, position: number): Promise<{ bytesRead: number }>
    write(
      fd: number,
      buffer: Buffer,
      offset: number,
      length: number,
      position: number,
    ): Promise<{ bytesWritten: number }>
    fstat(fd: number): Promise<Stats>
    fchmod(fd: number, mode: number): Promise<void>
    fchown(fd: number, uid: number, gid: number): Promise<void>
    mkdir(path: string, mode: number): Promise<void>
    readdir(path: string): Promise<string[]>
    readlink(path: string): Promise<string>
    unlink(path: string): Promise<void>
    rmdir(path: string): Promise<void>
  }

  export function mount(disk: Disk, offset?: number): Promise<{ promises: Filesystem }>
  export function umount(filesystem: { promises: Filesystem }): Promise<void>
}
