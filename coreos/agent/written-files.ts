import { gunzipSync } from 'node:zlib'
import { dataUrlBytes, type SpecConfig, type SpecResource } from '../../ignition/index.js'

/** Looks up a file of the booted system; undefined when there is none. */
export type FileAt = (path: string) => Uint8Array | undefined

/** The text of a file; undefined when the file does not exist. */
export const decodeWrittenText = (bytes: Uint8Array | undefined): string | undefined =>
  bytes && Buffer.from(bytes).toString()

/** Limit for one file. Units and settings are short texts, so a larger file is a decompression bomb. */
const MAX_WRITTEN_FILE_BYTES = 2 ** 20
/** Limit for all files together. */
const MAX_WRITTEN_BYTES = 64 * 2 ** 20

/**
 * Files that a config writes from data URLs. A file counts as missing when its content is at another URL, cannot be
 * decoded, or decompresses to more than a MiB. A caller that has fetched the contents passes a lookup of its own.
 */
export function writtenFiles(config: SpecConfig): FileAt {
  const byPath = new Map((config.storage?.files ?? []).map((file) => [file.path, file]))
  const known = new Map<string, Uint8Array | undefined>()
  let left = MAX_WRITTEN_BYTES
  return (path) => {
    const file = byPath.get(path)
    if (!file) return undefined
    if (known.has(path) || left < 0) return known.get(path)
    const parts = [...(file.contents === undefined ? [] : [file.contents]), ...(file.append ?? [])].map(
      decodeResourceBytes,
    )
    const bytes = parts.includes(undefined) ? undefined : Buffer.concat(parts as Uint8Array[])
    left -= bytes?.length ?? MAX_WRITTEN_FILE_BYTES
    known.set(path, bytes)
    return bytes
  }
}

function decodeResourceBytes({ source, compression }: SpecResource): Uint8Array | undefined {
  if (!source) return new Uint8Array()
  const bytes = dataUrlBytes(source)
  if (bytes === null || compression !== 'gzip') return bytes ?? undefined
  try {
    return gunzipSync(bytes, { maxOutputLength: MAX_WRITTEN_FILE_BYTES })
  } catch {
    // Ignition fails on such a file, so no agent starts from it either.
    return undefined
  }
}
