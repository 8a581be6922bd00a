import { defined } from '../../runtime/index.js'
import { ByteReader } from '../byte-reader.js'
import type { ByteStream } from '../byte-stream.js'
import { FormatError } from '../format-error.js'
import { isZero } from '../zeros.js'
import { TAR_BLOCK_BYTES, paxRecords, tarHeader, type TarHeader } from './tar-header.js'

/** An entry of an archive that is being read. Its content can be taken until the next entry is asked for. */
export interface TarEntry {
  /** Relative, without `.` and `..` and a slash at its end; empty for the root of the archive. */
  readonly path: string
  readonly kind: 'file' | 'directory' | 'hard link' | 'symbolic link' | 'other'
  /** Bytes of the content. */
  readonly size: number
  /** Target of a link as the archive has it; empty for other entries. */
  readonly linkTarget: string
  /** Permission bits, setuid, setgid and sticky included. */
  readonly mode: number
  readonly uid: number
  readonly gid: number
  /** @throws FormatError when the archive ends early */
  content(): AsyncGenerator<Uint8Array, void, undefined>
}

export interface TarLimits {
  /** Entries of an archive, headers about other entries included. */
  entries: number
  /** Bytes of a header about another entry; of a path, too. */
  header: number
}

/** The limit of headers is that of Go's archive/tar 1.22, which all container tools use. The largest systems have a tenth of the entries. */
const TAR_LIMITS: TarLimits = { entries: 2_000_000, header: 2 ** 20 }

const MAX_TAR_PATH_LENGTH = 4096
const TAR_ENDS_EARLY = 'a tar archive ends in the middle of an entry'

const TAR_KINDS: Readonly<Record<string, TarEntry['kind']>> = {
  '0': 'file',
  '7': 'file',
  '1': 'hard link',
  '2': 'symbolic link',
  '5': 'directory',
}
/** Links, devices, directories and FIFOs have no content, though a size may stand there. */
const WITHOUT_CONTENT = '123456'

/**
 * The entries of a tar archive (V7, ustar, PAX, GNU long names), in order, read no faster than they are taken. Nothing of it
 * is kept but the path of the present entry. Afterwards the stream is at the byte after the two blocks that end the archive.
 *
 * @throws FormatError for a damaged archive, for paths that lead out of it, and beyond the limits
 */
export async function* readTar(
  stream: ByteStream,
  limits: Partial<TarLimits> = {},
): AsyncGenerator<TarEntry, void, undefined> {
  const input = stream instanceof ByteReader ? stream : new ByteReader(stream)
  const { entries: most, header: largest } = { ...TAR_LIMITS, ...limits }
  let next: { path?: string; linkTarget?: string; size?: number } = {}
  for (let count = 1; ; count++) {
    const header = await nextHeader(input)
    if (!header) return
    if (count > most) throw new FormatError(`a tar archive has more than ${most} entries`)
    const { type, size } = header
    if (type === 'g') {
      // Go's archive/tar, and so every container tool, applies none of it to the entries.
      await input.skip(paddedTarSize(size), TAR_ENDS_EARLY)
      continue
    }
    if (type === 'x' || type === 'L' || type === 'K') {
      if (size > largest) throw new FormatError(`a header of a tar archive has ${size} bytes, more than ${largest}`)
      const bytes = (await input.exactly(paddedTarSize(size), TAR_ENDS_EARLY)).subarray(0, size)
      next = {
        ...next,
        ...(type === 'x' ? readPaxHeader(bytes) : { [type === 'L' ? 'path' : 'linkTarget']: decodeTarText(bytes) }),
      }
      continue
    }
    const entry = readTarEntry({ ...header, ...next, name: next.path ?? header.name })
    next = {}
    let left = entry.size
    const content = async function* () {
      while (left > 0) {
        const bytes = await input.next()
        if (!bytes) throw new FormatError(TAR_ENDS_EARLY)
        if (bytes.length > left) input.unread(bytes.subarray(left))
        const part = bytes.subarray(0, left)
        left -= part.length
        yield part
      }
    }
    yield { ...entry, content }
    await input.skip(left + paddedTarSize(entry.size) - entry.size, TAR_ENDS_EARLY)
  }
}

const paddedTarSize = (size: number): number => Math.ceil(size / TAR_BLOCK_BYTES) * TAR_BLOCK_BYTES

/** Undefined at the end: two empty blocks, or no more blocks. */
async function nextHeader(input: ByteReader): Promise<TarHeader | undefined> {
  const found = await input.peek(TAR_BLOCK_BYTES)
  if (found.length === 0) return undefined
  const block = await input.exactly(TAR_BLOCK_BYTES, TAR_ENDS_EARLY)
  if (!isZero(block)) return tarHeader(block)
  const after = (await input.peek(TAR_BLOCK_BYTES)).subarray(0, TAR_BLOCK_BYTES)
  if (!isZero(after)) throw new FormatError('a tar archive has an empty block between its entries')
  await input.skip(after.length)
  return undefined
}

function readPaxHeader(bytes: Buffer): { path?: string; linkTarget?: string; size?: number } {
  const records = paxRecords(bytes)
  if ([...records.keys()].some((key) => key.startsWith('GNU.sparse.'))) throw sparse()
  const [path, linkTarget, size] = ['path', 'linkpath', 'size'].map((key) => records.get(key))
  if (size !== undefined && !(/^\d{1,16}$/.test(size) && Number.isSafeInteger(Number(size))))
    throw new FormatError('the size of an entry of a tar archive is no number')
  return defined({ path, linkTarget, size: size === undefined ? undefined : Number(size) })
}

const sparse = (): FormatError => new FormatError('a tar archive has a sparse file, which is not read')

const decodeTarText = (bytes: Buffer): string => bytes.toString('utf8').replace(/\0[^]*$/, '')

function readTarEntry({ name, type, size, linkTarget, mode, uid, gid }: TarHeader): Omit<TarEntry, 'content'> {
  if (type === 'S') throw sparse()
  // V7 has no type for directories.
  const kind = type === '0' && name.endsWith('/') ? 'directory' : (TAR_KINDS[type] ?? 'other')
  const isLink = kind === 'hard link' || kind === 'symbolic link'
  return {
    path: checkTarPath(name),
    kind,
    size: WITHOUT_CONTENT.includes(type) ? 0 : size,
    linkTarget: isLink ? linkTarget : '',
    mode,
    uid,
    gid,
  }
}

/** @throws FormatError for a path that leads out of the archive */
function checkTarPath(name: string): string {
  if (Buffer.byteLength(name) > MAX_TAR_PATH_LENGTH)
    throw new FormatError(`a path of a tar archive has more than ${MAX_TAR_PATH_LENGTH} bytes: ${name.slice(0, 60)}...`)
  const parts = name.split('/').filter((part) => part !== '' && part !== '.')
  if (parts.includes('..') || name.includes('\0'))
    throw new FormatError(`a path points outside the tar archive: ${name}`)
  return parts.join('/')
}
