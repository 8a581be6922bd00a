import type { Clock } from '../../runtime/index.js'
import {
  type ArchiveFile,
  ByteReader,
  type ByteSource,
  bytesSource,
  cpio,
  decompressMember,
  readCpio,
  sniff,
  streamFrom,
  streamOf,
  xz,
} from '../../bytes/index.js'
import { LiveImageError } from '../live-image-error.js'

/** What reading may cost; a few bytes of xz can become any number of them. */
export interface Limits {
  /** Bytes of all archives together, decompressed. */
  unpacked: number
  /** Bytes of the files that are kept. */
  kept: number
}

/** A real live initramfs becomes a few hundred MiB, what is embedded is counted in kilobytes. */
export const LIMITS: Limits = { unpacked: 4 * 1024 ** 3, kept: 64 * 1024 ** 2 }

/** Files of an initramfs by path. */
export type Files = ReadonlyMap<string, Uint8Array>

/**
 * Reads the archives of an initramfs, each plain or compressed by gzip, xz or zstd, zeros between them. Of a file that
 * is there more than once the last one counts, as in a booting kernel.
 *
 * @param wanted which files to keep; the others are passed by
 * @throws LiveImageError in coreos-installer's words; also for more than `limits` allow
 */
export async function readInitramfs(
  initramfs: ByteSource | Uint8Array,
  clock: Clock,
  wanted: (path: string) => boolean = () => true,
  limits: Limits = LIMITS,
): Promise<Files> {
  const source = initramfs instanceof Uint8Array ? bytesSource(initramfs) : initramfs
  const reader = new ByteReader(streamFrom(streamOf(source)))
  const files = new Map<string, Uint8Array>()
  let kept = 0
  let unpacked = 0
  const found = ({ path, bytes }: ArchiveFile) => {
    kept += bytes.length - (files.get(path)?.length ?? 0)
    if (kept > limits.kept) throw new LiveImageError(`files are too large: ${kept} > ${limits.kept}`)
    files.set(path, bytes)
  }
  const counted = async function* (parts: AsyncIterable<Uint8Array>) {
    for await (const part of parts) {
      unpacked += part.length
      if (unpacked > limits.unpacked)
        throw new LiveImageError(`decompressed initramfs is too large: more than ${limits.unpacked}`)
      yield part
    }
  }
  try {
    while (await reader.skipZeros()) {
      const compression = sniff(await reader.peek(6))
      const options = { wanted, largest: limits.kept, found }
      if (compression === 'raw') await readCpio(reader, options)
      else {
        const contents = counted(decompressMember(reader, compression, clock))
        await using inside = new ByteReader(streamFrom(contents))
        await readCompressed(inside, options)
      }
    }
  } finally {
    await reader[Symbol.asyncDispose]()
  }
  return files
}

async function readCompressed(inside: ByteReader, options: Parameters<typeof readCpio>[1]): Promise<void> {
  await readCpio(inside, options)
  // Reading on to the end also verifies the checksum of the compressed data.
  if (await LiveImageError.during('finishing reading compressed archive', () => inside.skipZeros()))
    throw new LiveImageError('found trailing garbage inside compressed archive')
}

/** One archive as coreos-installer wraps it: xz, readable by kernels, with nothing after it. */
export function wrapFiles(files: Files, clock: Clock): Promise<Buffer> {
  return xz(cpio([...files].map(([path, bytes]) => ({ path, bytes }))), clock)
}
