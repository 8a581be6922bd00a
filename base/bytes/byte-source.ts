/** Bytes that are read at any place: a file, a buffer, or one of these with ranges of it replaced. */
export interface ByteSource {
  /** Bytes. */
  readonly size: number
  /** `length` bytes from `offset`; fewer only at the end. */
  read(offset: number, length: number): Promise<Uint8Array>
}

/** Bytes for a place of a {@link ByteSource}. */
export interface Patch {
  offset: number
  bytes: Uint8Array
}

/** A buffer as it is. */
export function bytesSource(bytes: Uint8Array): ByteSource {
  return {
    size: bytes.length,
    read: (offset, length) => Promise.resolve(bytes.subarray(offset, offset + length)),
  }
}

/**
 * `base` with `patches` laid over it, without a copy: a customised ISO costs its embed areas and no more. Reads are as
 * cheap as those of `base`, so any number of these may share one file. Size stays that of `base`; of overlapping
 * patches the later one is seen.
 *
 * @throws RangeError for a patch that is not within `base`
 * @example
 * const iso = overlay(base, (await openLiveIso(base)).ignition ...patches)
 * for await (const part of streamOf(iso, { start: 0, end: 1024 })) response.write(part)
 */
export function overlaySource(base: ByteSource, patches: readonly Patch[]): ByteSource {
  for (const { offset, bytes } of patches)
    if (!Number.isSafeInteger(offset) || offset < 0 || offset + bytes.length > base.size)
      throw new RangeError(`a patch of ${bytes.length} bytes at ${offset} is not within ${base.size} bytes`)
  return {
    size: base.size,
    async read(offset, length) {
      const end = Math.min(offset + length, base.size)
      const over = patches.filter((patch) => patch.offset < end && patch.offset + patch.bytes.length > offset)
      const only = over.length === 1 ? over[0]! : undefined
      if (only && only.offset <= offset && only.offset + only.bytes.length >= end)
        return only.bytes.subarray(offset - only.offset, end - only.offset)
      const read = await base.read(offset, length)
      if (over.length === 0) return read
      const merged = Uint8Array.from(read)
      for (const { offset: at, bytes } of over) {
        const from = Math.max(offset, at)
        merged.set(bytes.subarray(from - at, Math.min(end, at + bytes.length) - at), from - offset)
      }
      return merged
    },
  }
}

/** `base` and then `more`, without a copy: an initramfs with another archive after it. */
export function followedBy(base: ByteSource, more: Uint8Array): ByteSource {
  return {
    size: base.size + more.length,
    async read(offset, length) {
      if (offset >= base.size) return more.subarray(offset - base.size, offset - base.size + length)
      const first = await base.read(offset, Math.min(length, base.size - offset))
      if (offset + length <= base.size) return first
      return Buffer.concat([first, more.subarray(0, offset + length - base.size)])
    },
  }
}

/** A part of another, as a file of its own. */
export function sliceSource(base: ByteSource, start: number, size: number): ByteSource {
  return {
    size,
    read: (offset, length) => base.read(start + offset, Math.max(0, Math.min(length, size - offset))),
  }
}

const SOURCE_PIECE_BYTES = 256 * 1024

/** The bytes from `start` up to `end`, exclusive, in pieces (256 KiB by default), each read when it is asked for. */
export async function* streamSource(
  source: ByteSource,
  { start = 0, end = source.size, piece = SOURCE_PIECE_BYTES }: { start?: number; end?: number; piece?: number } = {},
): AsyncGenerator<Uint8Array, void, undefined> {
  for (let at = start; at < end;) {
    const bytes = await source.read(at, Math.min(piece, end - at))
    if (bytes.length === 0) throw new Error(`${source.size} bytes were announced and ended at ${at}`)
    yield bytes
    at += bytes.length
  }
}
