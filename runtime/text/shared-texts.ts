/** Texts that are remembered: the latest ones. */
const REMEMBERED = 2000

const latest = new Map<string, string>()

/**
 * The same text as an equal one that came lately, in whose place it is kept: thousands of machines have most of what is told
 * about them in common.
 */
export function shared(text: string): string {
  const known = latest.get(text)
  if (known !== undefined) return known
  const [oldest] = latest.keys()
  if (latest.size >= REMEMBERED && oldest !== undefined) latest.delete(oldest)
  latest.set(text, text)
  return text
}
