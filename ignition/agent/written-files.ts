import { gunzipSync } from 'node:zlib'
import { dataUrlBytes } from '../data-url.js'
import { LARGEST_RESOURCE } from '../resource-bytes.js'
import type { SpecConfig, SpecResource } from '../spec/config-types.js'

/** Looks up a file of the booted system; undefined when there is none. */
export type FileAt = (path: string) => Uint8Array | undefined

/**
 * The files that a config writes by itself, from data URLs. One whose content is somewhere else, or cannot be decoded, is
 * not there: whoever has fetched it knows better.
 */
export function writtenFiles(config: SpecConfig): FileAt {
  return (path) => {
    const file = config.storage?.files?.findLast((one) => one.path === path)
    if (!file) return undefined
    const parts = [...(file.contents === undefined ? [] : [file.contents]), ...(file.append ?? [])].map(bytesOf)
    return parts.includes(undefined) ? undefined : Buffer.concat(parts as Uint8Array[])
  }
}

function bytesOf({ source, compression }: SpecResource): Uint8Array | undefined {
  if (!source) return new Uint8Array()
  const bytes = dataUrlBytes(source)
  if (bytes === null || compression !== 'gzip') return bytes ?? undefined
  try {
    return gunzipSync(bytes, { maxOutputLength: LARGEST_RESOURCE })
  } catch {
    // Ignition stops at it, so no agent starts from it either.
    return undefined
  }
}
