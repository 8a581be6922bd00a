/** clap suggests names with a greater similarity. */
const MIN_NAME_SIMILARITY = 0.7

/** Names similar to a mistyped one, the most similar last, as clap sorts them. */
export function mostSimilar(text: string, names: readonly string[]): string[] {
  return names
    .map((name) => ({ name, similarity: jaro(text, name) }))
    .filter(({ similarity }) => similarity > MIN_NAME_SIMILARITY)
    .sort((a, b) => a.similarity - b.similarity)
    .map(({ name }) => name)
}

/** The Jaro similarity: 0 for nothing in common, 1 for the same. */
function jaro(a: string, b: string): number {
  if (a === b) return 1
  if (a === '' || b === '') return 0
  const range = Math.max(0, Math.floor(Math.max(a.length, b.length) / 2) - 1)
  const matched = new Array<boolean>(b.length).fill(false)
  const inA: string[] = []
  for (let i = 0; i < a.length; i++)
    for (let j = Math.max(0, i - range); j < Math.min(b.length, i + range + 1); j++)
      if (!matched[j] && a[i] === b[j]) {
        matched[j] = true
        inA.push(a[i]!)
        break
      }
  const matches = inA.length
  if (matches === 0) return 0
  const inB = [...b].filter((_, index) => matched[index])
  const transpositions = inA.filter((letter, index) => letter !== inB[index]).length / 2
  return (matches / a.length + matches / b.length + (matches - transpositions) / matches) / 3
}
