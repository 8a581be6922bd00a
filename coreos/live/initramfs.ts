import type { Clock } from '../../base/runtime/index.js'
import {
  type ArchiveFile,
  ByteReader,
  type ByteSource,
  bytesSource,
  makeCpio,
  decompressMember,
  readCpio,
  detectCompression,
  streamFrom,
  streamSource,
  compressXz,
} from '../../base/bytes/index.js'
import { LiveImageError } from '../live-image-error.js'

/** Limits for reading: a few bytes of xz can decompress to any number of bytes. */
export interface InitramfsLimits {
  /** Bytes of all archives together, decompressed. */
  unpacked: number
  /** Bytes of the selected files. */
  selected: number
}

/** A real live initramfs has a few hundred MiB, embedded files have kilobytes. */
const INITRAMFS_LIMITS: InitramfsLimits = { unpacked: 4 * 1024 ** 3, selected: 64 * 1024 ** 2 }

/** Files of an initramfs by path. */
export type InitramfsFiles = ReadonlyMap<string, Uint8Array>

/**
 * Reads the archives of an initramfs, each plain or compressed by gzip, xz or zstd, with zeros between them. A later file
 * replaces an earlier one of the same path, as in a booting kernel.
 *
 * @param wanted selects files by path; the others are skipped
 * @throws LiveImageError in coreos-installer's words; also when a limit is exceeded
 */
export async function readInitramfs(
  initramfs: ByteSource | Uint8Array,
  clock: Clock,
  wanted: (path: string) => boolean = () => true,
  limits: InitramfsLimits = INITRAMFS_LIMITS,
): Promise<InitramfsFiles> {
  const source = initramfs instanceof Uint8Array ? bytesSource(initramfs) : initramfs
  const reader = new ByteReader(streamFrom(streamSource(source)))
  const files = new Map<string, Uint8Array>()
  let selected = 0
  let unpacked = 0
  const found = ({ path, bytes }: ArchiveFile) => {
    selected += bytes.length - (files.get(path)?.length ?? 0)
    if (selected > limits.selected) throw new LiveImageError(`files are too large: ${selected} > ${limits.selected}`)
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
      const compression = detectCompression(await reader.peek(6))
      const options = { wanted, largest: limits.selected, found }
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

/** Packs files as coreos-installer does: one cpio archive in xz, with a checksum that kernels can read. */
export function wrapFiles(files: InitramfsFiles, clock: Clock): Promise<Buffer> {
  return compressXz(makeCpio([...files].map(([path, bytes]) => ({ path, bytes }))), clock)
}
