import type { StreamMetadata } from './stream-metadata.js'

/** A value that differs. */
export interface StreamDifference {
  path: string
  /** Null for a missing value. */
  before: string | null
  after: string | null
}

/**
 * Lists the differences of two streams, except the time and the generator.
 *
 * @example
 * import { readFileSync } from 'node:fs'
 * import { diffStreams, readMetadata } from 'ironstage/coreos'
 *
 * const metadata = readMetadata(readFileSync('stable.json', 'utf8'), 'stable.json')
 * if (metadata.kind === 'stream') console.log(diffStreams(metadata.value, metadata.value))
 */
export function diffStreams(before: StreamMetadata, after: StreamMetadata): StreamDifference[] {
  const one = leaves(before)
  const other = leaves(after)
  return [...new Set([...one.keys(), ...other.keys()])]
    .filter((path) => one.get(path) !== other.get(path))
    .sort()
    .map((path) => ({ path, before: one.get(path) ?? null, after: other.get(path) ?? null }))
}

function leaves({ metadata: _, ...stream }: StreamMetadata): Map<string, string> {
  const found = new Map<string, string>()
  const walk = (value: unknown, path: string): void => {
    if (typeof value === 'object' && value !== null)
      for (const [key, one] of Object.entries(value)) walk(one, path === '' ? key : `${path}.${key}`)
    // An empty signature equals a missing one.
    else if (value !== '') found.set(path, String(value))
  }
  walk(stream, '')
  return found
}
