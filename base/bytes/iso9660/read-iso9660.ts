import { FormatError } from '../format-error.js'
import { sliceSource, type ByteSource } from '../byte-source.js'

const SECTOR = 2048
/** A folder of a CoreOS ISO is a sector or two; a damaged size must not become a buffer of 4 GiB. */
const MAX_ISO_FOLDER_BYTES = 4 * 1024 * 1024
/** Before the terminator; a real one has two to four. */
const MAX_ISO_DESCRIPTORS = 64

/** A file or folder of an ISO9660 filesystem. */
export interface IsoEntry {
  /** Without version and trailing dot. */
  name: string
  folder: boolean
  /** Offset of its first byte in the image. */
  offset: number
  /** Bytes. */
  size: number
}

/** An ISO9660 filesystem, without Joliet. Names are those of the plain tree, in capitals, unless Rock Ridge's are asked for. */
export interface IsoFilesystem {
  /** The name of the volume, at most 32 characters. */
  readonly volume: string
  /** @throws NotOnIso where it does not exist */
  find(path: string): Promise<IsoEntry>
  /** @throws FormatError where the path is not a folder */
  list(path: string): Promise<IsoEntry[]>
  /** The bytes of a file. */
  contents(entry: IsoEntry): ByteSource
}

/** A file or folder that an ISO does not have. */
export class NotOnIso extends FormatError {
  override name = 'NotOnIso'
}

interface IsoReading {
  /** Finds names in small letters too, which the kernel shows and coreos-installer does not look for. */
  anyCase?: boolean
  /** Names entries as Rock Ridge does where a record has such a name, as the kernel shows them. */
  rockRidge?: boolean
}

/** @throws FormatError with the chain that coreos-installer reports */
export async function readIso9660(image: ByteSource, options: IsoReading = {}): Promise<IsoFilesystem> {
  return FormatError.during('parsing ISO9660 image', async () => {
    const primary = await primaryDescriptor(image)
    if (primary.readUInt32LE(80) * SECTOR > image.size) throw new FormatError('ISO image is incomplete')
    const root = readRecord(primary, 156, image.size)
    if (!root) throw new FormatError('no root directory')
    return filesystem(image, primary.toString('latin1', 40, 72).trimEnd(), root, options)
  })
}

async function primaryDescriptor(image: ByteSource): Promise<Buffer> {
  let primary: Buffer | undefined
  for (let number = 1; number <= MAX_ISO_DESCRIPTORS; number++) {
    const descriptor = await FormatError.during(`getting volume descriptor #${number}`, () =>
      readDescriptor(image, number),
    )
    const type = descriptor[0]
    if (type === 255) {
      if (!primary) throw new FormatError("couldn't find primary volume descriptor")
      return primary
    }
    if (type === 1) primary ??= descriptor
  }
  throw new FormatError(`more than ${MAX_ISO_DESCRIPTORS} volume descriptors`)
}

async function readDescriptor(image: ByteSource, number: number): Promise<Buffer> {
  const read = Buffer.from(await image.read((15 + number) * SECTOR, SECTOR))
  if (read.length < SECTOR)
    throw new FormatError('reading volume descriptor', new FormatError('failed to fill whole buffer'))
  const id = read.subarray(1, 6)
  if (id.toString('latin1') !== 'CD001') {
    const kind = { 0: 'boot', 1: 'primary' }[read[0]!]
    const cause = new FormatError(`unknown descriptor ID: ${byteString(id)}`)
    throw kind === undefined ? cause : new FormatError(`parsing ${kind} descriptor`, cause)
  }
  if (read[6] !== 1) throw new FormatError(`unknown descriptor version: ${read[6]}`)
  return read
}

/** Bytes as Rust's `Debug` prints them. */
function byteString(bytes: Uint8Array): string {
  const SHORT: Record<number, string> = { 0: '\\0', 9: '\\t', 10: '\\n', 13: '\\r', 34: '\\"', 92: '\\\\' }
  const shown = [...bytes].map(
    (byte) =>
      SHORT[byte] ??
      (byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : `\\x${byte.toString(16).padStart(2, '0')}`),
  )
  return `b"${shown.join('')}"`
}

/** Undefined at the end of a sector's records. */
function readRecord(bytes: Buffer, at: number, imageSize: number): IsoEntry | undefined {
  const length = bytes[at]
  if (length === undefined || length === 0) return undefined
  if (length < 34 || at + length > bytes.length) throw new FormatError('directory record is truncated')
  const nameLength = bytes[at + 32]!
  if (33 + nameLength > length) throw new FormatError('directory record has a name that is too long')
  const offset = bytes.readUInt32LE(at + 2) * SECTOR
  const size = bytes.readUInt32LE(at + 10)
  const name = bytes
    .toString('latin1', at + 33, at + 33 + nameLength)
    .replace(/;1$/, '')
    .replace(/\.$/, '')
  if (offset + size > imageSize)
    throw new FormatError(`${JSON.stringify(name)} is not within the image: ${offset + size} > ${imageSize}`)
  return { name, folder: (bytes[at + 25]! & 2) !== 0, offset, size }
}

/**
 * The name in a record's system use area (Rock Ridge 1.12, `NM`); undefined without one. A name that continues in another
 * place of the volume is not looked for: it has more than a hundred characters.
 */
function rockRidgeName(bytes: Buffer, at: number): string | undefined {
  const end = at + bytes[at]!
  const nameLength = bytes[at + 32]!
  let name: string | undefined
  // The area begins at an even offset.
  for (let entry = at + 33 + nameLength + ((nameLength + 1) % 2); entry + 4 <= end;) {
    const length = bytes[entry + 2]!
    if (length < 4 || entry + length > end) break
    if (bytes.toString('latin1', entry, entry + 2) === 'NM' && length > 5)
      name = (name ?? '') + bytes.toString('utf8', entry + 5, entry + length)
    entry += length
  }
  return name
}

function filesystem(
  image: ByteSource,
  volume: string,
  root: IsoEntry,
  { anyCase = false, rockRidge = false }: IsoReading,
): IsoFilesystem {
  const children = async (folder: IsoEntry): Promise<IsoEntry[]> => {
    if (folder.size > MAX_ISO_FOLDER_BYTES) throw new FormatError(`directory of ${folder.size} bytes is too large`)
    const bytes = Buffer.from(await image.read(folder.offset, folder.size))
    const found: IsoEntry[] = []
    for (let at = 0; at < bytes.length;) {
      const record = readRecord(bytes, at, image.size)
      // Records do not cross sectors; zeros fill what is left of one.
      if (!record) at = (Math.floor(at / SECTOR) + 1) * SECTOR
      else {
        // The folder itself and the one above it have names of one byte.
        if (record.name !== '\0' && record.name !== '\x01')
          found.push(rockRidge ? { ...record, name: rockRidgeName(bytes, at) ?? record.name } : record)
        at += bytes[at]!
      }
    }
    return found
  }
  const find = async (path: string): Promise<IsoEntry> => {
    const parts = path
      .toUpperCase()
      .split('/')
      .filter((part) => part !== '')
    let entry: IsoEntry = root
    for (const [index, part] of parts.entries()) {
      const next = (await children(entry)).find(
        ({ name }) => (anyCase || rockRidge ? name.toUpperCase() : name) === part,
      )
      const last = index === parts.length - 1
      if (!next)
        throw new NotOnIso(
          last ? `no record for ${part} in directory ${entry.name}` : `intermediate directory ${part} does not exist`,
        )
      if (!last && !next.folder) throw new FormatError(`component ${part} is not a directory`)
      entry = next
    }
    return entry
  }
  return {
    volume,
    find,
    async list(path) {
      const entry = await find(path)
      if (!entry.folder) throw new FormatError(`${path} is not a directory`)
      return children(entry)
    },
    contents: ({ offset, size }) => sliceSource(image, offset, size),
  }
}
