/** Header of a zstd frame (RFC 8878, 3.1.1.1). */
export interface ZstdFrame {
  /** Bytes of magic number and header. */
  headerLength: number
  /** Bytes of the checksum at the frame's end. */
  checksumLength: number
  /** Bytes that a decoder must remember. */
  window: number
  /** Bytes of the contents, when it says so. */
  contentSize: number | undefined
  /** Sentence by which zstd refuses it for what its header asks for. */
  refusal: string | undefined
}

/** Bytes of a frame that always suffice for {@link zstdFrame}. */
export const MAX_ZSTD_HEADER_BYTES = 18

/** Frames that ask for more memory are refused; zstd does it at twice as much, of which the decoder here needs double. */
export const MAX_ZSTD_WINDOW = 64 * 1024 * 1024

/** The decoder's sentence for that. */
export const ZSTD_TOO_MUCH_MEMORY = 'Frame requires too much memory for decoding'

/**
 * Reads a frame's header.
 *
 * @param start from the magic number on, at least {@link MAX_ZSTD_HEADER_BYTES} bytes or all that there are
 * @returns undefined for a header that is cut short
 */
export function zstdFrame(start: Buffer): ZstdFrame | undefined {
  const descriptor = start[4]
  if (descriptor === undefined) return undefined
  const single = (descriptor & 0x20) !== 0
  const sizeLength = [single ? 1 : 0, 2, 4, 8][descriptor >> 6]!
  const sizeAt = 5 + (single ? 0 : 1) + [0, 1, 2, 4][descriptor & 3]!
  const headerLength = sizeAt + sizeLength
  if (start.length < headerLength) return undefined
  const contentSize = numberIn(start.subarray(sizeAt, headerLength))
  const dictionary = start.subarray(single ? 5 : 6, sizeAt)
  return {
    headerLength,
    checksumLength: (descriptor & 4) !== 0 ? 4 : 0,
    window: single ? contentSize! : windowOf(start[5]!),
    contentSize,
    refusal: refusalOf(descriptor, dictionary),
  }
}

function refusalOf(descriptor: number, dictionary: Buffer): string | undefined {
  if ((descriptor & 8) !== 0) return 'Unsupported frame parameter'
  return dictionary.some((byte) => byte !== 0) ? 'Dictionary mismatch' : undefined
}

function windowOf(byte: number): number {
  const base = 2 ** (10 + (byte >> 3))
  return base + (base / 8) * (byte & 7)
}

function numberIn(field: Buffer): number | undefined {
  switch (field.length) {
    case 1:
      return field[0]
    case 2:
      return field.readUInt16LE() + 256
    case 4:
      return field.readUInt32LE()
    case 8:
      return Number(field.readBigUInt64LE())
    default:
      return undefined
  }
}
