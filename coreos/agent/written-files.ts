import { gunzipSync } from 'node:zlib'
import { dataUrlBytes, type SpecConfig, type SpecResource } from '../../ignition/index.js'

/** Looks up a file of the booted system; undefined when there is none. */
export type FileAt = (path: string) => Uint8Array | undefined

/** What a file says, if it is there. */
export const textOf = (bytes: Uint8Array | undefined): string | undefined => bytes && Buffer.from(bytes).toString()

/** What decides how an agent starts is text that somebody wrote: a bomb is none. */
const LARGEST = 2 ** 20
/** Of all files together. */
const LARGEST_OF_ALL = 64 * 2 ** 20

/**
 * The files that a config writes by itself, from data URLs. One whose content is somewhere else, cannot be decoded, or
 * decompresses to more than a MiB is not there: whoever has fetched it knows better.
 */
export function writtenFiles(config: SpecConfig): FileAt {
  const byPath = new Map((config.storage?.files ?? []).map((file) => [file.path, file]))
  const known = new Map<string, Uint8Array | undefined>()
  let left = LARGEST_OF_ALL
  return (path) => {
    const file = byPath.get(path)
    if (!file) return undefined
    if (known.has(path) || left < 0) return known.get(path)
    const parts = [...(file.contents === undefined ? [] : [file.contents]), ...(file.append ?? [])].map(bytesOf)
    const bytes = parts.includes(undefined) ? undefined : Buffer.concat(parts as Uint8Array[])
    left -= bytes?.length ?? LARGEST
    known.set(path, bytes)
    return bytes
  }
}

function bytesOf({ source, compression }: SpecResource): Uint8Array | undefined {
  if (!source) return new Uint8Array()
  const bytes = dataUrlBytes(source)
  if (bytes === null || compression !== 'gzip') return bytes ?? undefined
  try {
    return gunzipSync(bytes, { maxOutputLength: LARGEST })
  } catch {
    // Ignition stops at it, so no agent starts from it either.
    return undefined
  }
}
