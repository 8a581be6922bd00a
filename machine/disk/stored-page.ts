import { bufferOf } from '../../base/bytes/index.js'

/** Bytes of a page, the unit that is stored, shared and copied. */
export const PAGE = 4096
const WORD = 4
/** Words that are not zero up to which a page is kept as a list of them: their number, then index and word of each. */
const MAX_SPARSE_WORDS = 256
const SPARSE_ENTRY_BYTES = 2 + WORD

/** A page as it is kept. Nothing changes it. */
export type StoredPage = { dense: Buffer } | { words: Buffer }

export const ZERO_PAGE: StoredPage = { words: Buffer.alloc(0) }

/**
 * Keeps a copy of a page's contents. Most pages of structures are nearly empty, and need a tenth of their size; of the
 * others, which an installation writes alike on each machine, all disks have one.
 */
export function storedPage(contents: Uint8Array): StoredPage {
  const bytes = bufferOf(contents)
  const all = viewWords(bytes)
  let count = 0
  for (const word of all) if (word !== 0) count++
  if (count > MAX_SPARSE_WORDS) return sharedPage(bytes, all)
  const words = Buffer.allocUnsafeSlow(count * SPARSE_ENTRY_BYTES)
  let end = 0
  for (let index = 0; index < all.length; index++) {
    if (all[index] === 0) continue
    const at = index * WORD
    words.writeUInt16LE(at, end)
    for (let byte = 0; byte < WORD; byte++) words[end + 2 + byte] = bytes[at + byte]!
    end += SPARSE_ENTRY_BYTES
  }
  return { words }
}

/** Copies a part of a page to where zeros are. */
export function copyPart(page: StoredPage, from: number, to: number, out: Buffer, at: number): void {
  if ('dense' in page) {
    page.dense.copy(out, at, from, to)
    return
  }
  const { words } = page
  for (let entry = 0; entry < words.length; entry += SPARSE_ENTRY_BYTES) {
    const start = words.readUInt16LE(entry)
    if (start >= to) return
    for (let byte = 0; byte < WORD; byte++)
      if (start + byte >= from && start + byte < to) out[at + start + byte - from] = words[entry + 2 + byte]!
  }
}

const dense = new Map<number, WeakRef<{ dense: Buffer }>>()
const collected = new FinalizationRegistry<number>((hash) => {
  if (dense.get(hash)?.deref() === undefined) dense.delete(hash)
})

function sharedPage(bytes: Buffer, words: Int32Array): StoredPage {
  const hash = hashWords(words)
  const known = dense.get(hash)?.deref()
  if (known?.dense.equals(bytes)) return known
  const page = { dense: Buffer.from(bytes) }
  if (!known) {
    dense.set(hash, new WeakRef(page))
    collected.register(page, hash)
  }
  return page
}

/** The words of a page in the order of bytes of this computer, for which a view has to begin at a multiple of four. */
function viewWords(bytes: Buffer): Int32Array {
  const { buffer, byteOffset } = byteOffsetFits(bytes) ? bytes : copyBytes(bytes)
  return new Int32Array(buffer, byteOffset, PAGE / WORD)
}

const byteOffsetFits = ({ byteOffset }: Buffer): boolean => byteOffset % WORD === 0
const copyBytes = (bytes: Buffer): Uint8Array => new Uint8Array(bytes)

/** FNV-1a over words. */
function hashWords(words: Int32Array): number {
  let hash = 0x811c9dc5
  for (const word of words) hash = Math.imul(hash ^ word, 0x01000193)
  return hash
}
