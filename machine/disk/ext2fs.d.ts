/** The parts of the package that are used; it ships no types. Checked against 4.2.5. */
declare module 'ext2fs/lib/libext2fs.js' {
  /** A disk as the library's WebAssembly calls it; a rejection becomes EIO. */
  export interface ExtDisk {
    read(buffer: Buffer, bufferOffset: number, length: number, fileOffset: number): Promise<unknown>
    write(buffer: Buffer, bufferOffset: number, length: number, fileOffset: number): Promise<unknown>
    discard(offset: number, length: number): Promise<unknown>
    flush(): Promise<unknown>
  }

  export interface ExtLibrary {
    onRuntimeInitialized: () => void
    ccall(
      name: string,
      returns: 'number',
      types: readonly string[],
      args: readonly number[],
      options: { async: true },
    ): Promise<number>
    /** Keeps an object for the library, which knows it by the number. */
    setObject(object: unknown): number
    deleteObject(id: number): void
    /** A view of the library's memory, until that grows. */
    getBuffer(pointer: number, length: number): Buffer
    _malloc_from_js(length: number): number
    _free_from_js(pointer: number): void
    _node_ext2fs_stat_i_mode(fd: number): number
    _node_ext2fs_stat_i_uid(fd: number): number
    _node_ext2fs_stat_i_gid(fd: number): number
    _node_ext2fs_stat_i_size(fd: number): number
  }
}
