import { closest, distance } from 'fastest-levenshtein'

/** The known word that was most likely meant; undefined when none is near. */
export function nearest(word: string, known: readonly string[]): string | undefined {
  if (known.length === 0) return undefined
  const found = closest(word, known)
  return distance(word, found) <= Math.max(1, Math.floor(found.length / 3)) ? found : undefined
}
