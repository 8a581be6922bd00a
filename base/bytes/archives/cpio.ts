import { FormatError } from '../format-error.js'
import type { ByteReader } from '../byte-reader.js'

/** A file of an archive. */
export interface ArchiveFile {
  /** Relative, without `.` and `..`. */
  path: string
  bytes: Uint8Array
}

const TRAILER = 'TRAILER!!!'
const CPIO_MAGIC_LENGTH = 6
const CPIO_HEADER_BYTES = 110
const FILE = 0o100000
const KIND = 0o170000
/** Linux's PATH_MAX. */
const MAX_CPIO_NAME_LENGTH = 4096

/**
 * An archive in the kernel's `newc` format: sorted by path, folders before what is in them, files 0600, owner root,
 * time 0, inodes counted from 0: byte for byte what coreos-installer 0.27.0 writes.
 *
 * @throws FormatError for a path that leads out of the archive
 */
export function makeCpio(files: readonly ArchiveFile[]): Buffer {
  for (const { path } of files) checkPath(path)
  const folders = new Set(
    files.flatMap(({ path }) =>
      path
        .split('/')
        .slice(0, -1)
        .map((_, index, parts) => parts.slice(0, index + 1).join('/')),
    ),
  )
  const entries = [
    ...[...folders].map((path) => ({ path, mode: 0o040755, bytes: new Uint8Array() })),
    ...files.map((file) => ({ ...file, mode: FILE | 0o600 })),
  ].sort((a, b) => Buffer.compare(Buffer.from(a.path), Buffer.from(b.path)))
  return Buffer.concat([
    ...entries.flatMap(({ path, mode, bytes }, inode) => makeCpioRecord(path, mode, bytes, inode)),
    ...makeCpioRecord(TRAILER, 0, new Uint8Array(), 0),
  ])
}

function checkPath(path: string): void {
  const parts = path.split('/')
  if (path.includes('\0') || parts.some((part) => part === '' || part === '.' || part === '..'))
    throw new FormatError(`${JSON.stringify(path)} is not a path within an archive`)
}

function makeCpioRecord(path: string, mode: number, bytes: Uint8Array, inode: number): Uint8Array[] {
  const name = Buffer.from(`${path}\0`)
  const fields = [inode, mode, 0, 0, 1, 0, bytes.length, 0, 0, 0, 0, name.length, 0]
  const header = Buffer.from(`070701${fields.map((field) => field.toString(16).padStart(8, '0')).join('')}`)
  return [padCpioPart(Buffer.concat([header, name])), padCpioPart(bytes)]
}

/** Pads to a multiple of four bytes, at which the next part of an archive begins. */
const padCpioPart = (bytes: Uint8Array): Buffer => Buffer.concat([bytes, Buffer.alloc(-bytes.length & 3)])

/**
 * Reads one archive up to its trailer and hands over its regular files that are `wanted`; folders, links and devices are
 * passed by, as coreos-installer does.
 *
 * @param largest bytes of a file that is wanted
 * @throws FormatError
 */
export async function readCpio(
  reader: ByteReader,
  {
    wanted,
    largest,
    found,
  }: { wanted: (path: string) => boolean; largest: number; found: (file: ArchiveFile) => void },
): Promise<void> {
  for (;;) {
    const { path, mode, size } = await FormatError.during('reading CPIO entry', () => readHeader(reader))
    const regular = (mode & KIND) === FILE
    if (regular && path !== TRAILER && wanted(path) && size > largest)
      throw new FormatError(`${path} is too large: ${size} > ${largest}`)
    const isWanted = regular && path !== TRAILER && wanted(path)
    if (isWanted) await FormatError.during('reading CPIO entry contents', () => reader.peek(size))
    await FormatError.during(`finishing reading CPIO ${path === TRAILER ? 'trailer' : 'entry'}`, async () => {
      if (isWanted) found({ path, bytes: Buffer.from(await reader.exactly(size)) })
      else await reader.skip(size)
      await reader.skip(-size & 3)
    })
    if (path === TRAILER) return
  }
}

async function readHeader(reader: ByteReader): Promise<{ path: string; mode: number; size: number }> {
  const magic = Buffer.from(await reader.exactly(CPIO_MAGIC_LENGTH)).toString('latin1')
  if (magic !== '070701' && magic !== '070702') throw new FormatError('Invalid magic number')
  const header = magic + Buffer.from(await reader.exactly(CPIO_HEADER_BYTES - CPIO_MAGIC_LENGTH)).toString('latin1')
  const field = (index: number): number => {
    const text = header.slice(6 + 8 * index, 14 + 8 * index)
    if (!/^[0-9a-fA-F]{8}$/.test(text)) throw new FormatError('Invalid hex number')
    return parseInt(text, 16)
  }
  const nameLength = field(11)
  if (nameLength === 0 || nameLength > MAX_CPIO_NAME_LENGTH) throw new FormatError(`file name of ${nameLength} bytes`)
  const path = Buffer.from(await reader.exactly(nameLength))
    .toString()
    .replace(/\0.*$/s, '')
  await reader.skip(-(CPIO_HEADER_BYTES + nameLength) & 3)
  return { path, mode: field(1), size: field(6) }
}
