/** Texts that are remembered: the latest ones. */
const MAX_SHARED_TEXTS = 2000

/** Characters of a text that is remembered. A longer one belongs to one machine, and may come from a stranger. */
const MAX_SHARED_TEXT_LENGTH = 1000

const latest = new Map<string, string>()

/**
 * Gives an equal text that came before in place of this one, so that memory has it once: thousands of machines print the same
 * lines.
 */
export function shareText(text: string): string {
  if (text.length > MAX_SHARED_TEXT_LENGTH) return text
  const known = latest.get(text)
  if (known !== undefined) return known
  const [oldest] = latest.keys()
  if (latest.size >= MAX_SHARED_TEXTS && oldest !== undefined) latest.delete(oldest)
  latest.set(text, text)
  return text
}
