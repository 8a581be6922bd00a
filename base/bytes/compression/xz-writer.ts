import { crc32 } from 'node:zlib'
import { withClockHeld, type Clock } from '../../runtime/index.js'
import { newXzEncoder } from './xz-coder.js'

/** The dictionary of preset 9, which coreos-installer compresses with. */
const MAX_XZ_DICTIONARY = 64 * 1024 * 1024
const DEFAULT_XZ_DICTIONARY = 1024 * 1024
const MIN_XZ_DICTIONARY = 64 * 1024

/**
 * Compresses into one xz stream with CRC32 as its check, the only check with which kernels unpack an initramfs. The
 * bytes are those of preset 9, which coreos-installer uses; but the match finder gets a dictionary no larger than the
 * contents, since one of 64 MiB takes a quarter of a second to set up.
 *
 * @param quickly in a third of the time, with a dictionary of {@link DEFAULT_XZ_DICTIONARY}; the bytes are others then, and a few
 *   percent more
 */
export function compressXz(bytes: Uint8Array, clock: Clock, { quickly = false } = {}): Promise<Buffer> {
  const largest = quickly ? DEFAULT_XZ_DICTIONARY : MAX_XZ_DICTIONARY
  let dictionary = MIN_XZ_DICTIONARY
  while (dictionary < bytes.length && dictionary < largest) dictionary *= 2
  const coder = newXzEncoder({ dictionary, quickly })
  return withClockHeld(clock, 'compressing xz', () => {
    const parts: Uint8Array[] = []
    return new Promise<Buffer>((resolve, reject) => {
      coder.bufferHandler = (output, processed, error) => {
        if (error) reject(error)
        else if (output) parts.push(output)
        else if (typeof processed !== 'number') resolve(withDictionary(Buffer.concat(parts)))
      }
      coder.code(bytes, true)
      coder.code(null, true)
    }).finally(() => coder.resetUnderlying())
  })
}

/** Offsets in the stream: the first block's header, its dictionary size, its checksum. */
const BLOCK_OFFSET = 12
const DICTIONARY = 16
const BLOCK_CRC = 20
/** A dictionary of 64 MiB, in LZMA2's encoding. */
const PRESET_9 = 0x1c

/** Declares the dictionary of preset 9: a decoder may always reserve more than it needs. */
function withDictionary(stream: Buffer): Buffer {
  stream[DICTIONARY] = PRESET_9
  stream.writeUInt32LE(crc32(stream.subarray(BLOCK_OFFSET, BLOCK_CRC)), BLOCK_CRC)
  return stream
}
