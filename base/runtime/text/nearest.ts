import { closest, distance } from 'fastest-levenshtein'

/**
 * The known word that was most likely meant; undefined when none is near.
 *
 * @param letters of a known word for each of which one edit is near; a short word may have one edit too
 */
export function nearestWord(word: string, known: readonly string[], letters = 3): string | undefined {
  if (known.length === 0) return undefined
  const found = closest(word, known)
  return distance(word, found) <= Math.max(1, Math.floor(found.length / letters)) ? found : undefined
}

/** Ends a refusal of an unknown word: `; did you mean delay?`, or all that are known; empty where none is. */
export function didYouMean(word: string, known: readonly string[]): string {
  if (known.length === 0) return ''
  const near = nearestWord(word, known)
  return near === undefined ? `; it is one of ${known.join(', ')}` : `; did you mean ${near}?`
}
