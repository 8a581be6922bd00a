/** Sentences of libzstd (common/error_private.c). */
export const ZSTD_CORRUPT = 'Data corruption detected'
const NO_TREE = 'Dictionary is corrupted'
const NO_SEQUENCES = 'Src size is incorrect'

/** Limit on a block, as it is stored and as it is decompressed (RFC 8878, 3.1.1.2.4). */
export const MAX_BLOCK_BYTES = 128 * 1024

const RAW = 0
const RUN_LENGTH = 1
const TREELESS = 3

/** Where the literals of a compressed block are, by the header of their section (RFC 8878, 3.1.1.3.1.1). */
interface LiteralsSection {
  headerLength: number
  /** Bytes when decompressed. */
  size: number
  /** Bytes in the block, behind the header. */
  stored: number
}

/**
 * Looks at the literals of a frame's compressed blocks, in their order, as libzstd does before it decodes them: the decoder
 * here takes some damage of them for data.
 */
export class LiteralsCheck {
  #hasTree = false

  /**
   * @param block a compressed block without its header
   * @param window of the frame
   * @returns the sentence by which zstd refuses it
   */
  refusalOf(block: Buffer, window: number): string | undefined {
    if (block.length < 2) return ZSTD_CORRUPT
    const type = block[0]! & 3
    if (type === TREELESS && !this.#hasTree) return NO_TREE
    const section = literalsSection(block)
    if (!section || section.size > Math.min(window, MAX_BLOCK_BYTES)) return ZSTD_CORRUPT
    const end = section.headerLength + section.stored
    if (end > block.length) return ZSTD_CORRUPT
    if (end === block.length) return NO_SEQUENCES
    if (type !== RAW && type !== RUN_LENGTH) this.#hasTree = true
    return undefined
  }
}

/** @returns undefined for a block that is too short for one */
function literalsSection(block: Buffer): LiteralsSection | undefined {
  const type = block[0]! & 3
  const format = (block[0]! >> 2) & 3
  if (type === RAW || type === RUN_LENGTH) {
    const headerLength = [1, 2, 1, 3][format]!
    if (block.length < headerLength) return undefined
    const size = block.readUIntLE(0, headerLength) >> [3, 4, 3, 4][format]!
    return { headerLength, size, stored: type === RAW ? size : 1 }
  }
  if (block.length < 5) return undefined
  const headerLength = [3, 3, 4, 5][format]!
  const bits = [10, 10, 14, 18][format]!
  // Up to forty bits, of which a shift of JavaScript would keep thirty-two.
  const header = Math.floor(block.readUIntLE(0, headerLength) / 16)
  return { headerLength, size: header % 2 ** bits, stored: Math.floor(header / 2 ** bits) }
}
