import type { Stream } from './stream.js'

/** One value that is not the same in both. */
export interface StreamDifference {
  path: string
  /** Null where there is none. */
  before: string | null
  after: string | null
}

/**
 * Where two streams differ, apart from when and by what they were made. Two sources of truth that should be one have no
 * difference (001, 004).
 *
 * @example
 * import { readFileSync } from 'node:fs'
 * import { diffStreams, readMetadata } from 'ironstage/coreos'
 *
 * const metadata = readMetadata(readFileSync('stable.json', 'utf8'), 'stable.json')
 * if (metadata.kind === 'stream') console.log(diffStreams(metadata.value, metadata.value))
 */
export function diffStreams(before: Stream, after: Stream): StreamDifference[] {
  const [one, other] = [leaves(before), leaves(after)]
  return [...new Set([...one.keys(), ...other.keys()])]
    .filter((path) => one.get(path) !== other.get(path))
    .sort()
    .map((path) => ({ path, before: one.get(path) ?? null, after: other.get(path) ?? null }))
}

function leaves({ metadata: _, ...stream }: Stream): Map<string, string> {
  const found = new Map<string, string>()
  const walk = (value: unknown, path: string): void => {
    if (typeof value === 'object' && value !== null)
      for (const [key, one] of Object.entries(value)) walk(one, path === '' ? key : `${path}.${key}`)
    // A signature that is empty is none.
    else if (value !== '') found.set(path, String(value))
  }
  walk(stream, '')
  return found
}
