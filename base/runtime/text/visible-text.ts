/**
 * Characters that a terminal obeys instead of showing them, or that are not seen: controls (C0, DEL, C1), format characters (those that turn the
 * direction of a text, zero-width ones), separators of lines, halves of characters, and what is no character.
 */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Noncharacter_Code_Point}]/gu

/** `\n`, `\x1b`, `\u202e`, `\u{e0001}` */
function escapeOf(character: string): string {
  const short = SHORT.get(character)
  if (short !== undefined) return short
  const code = character.codePointAt(0)!
  const digits = code.toString(16)
  if (code <= 0xff) return `\\x${digits.padStart(2, '0')}`
  if (code <= 0xffff) return `\\u${digits.padStart(4, '0')}`
  return `\\u{${digits}}`
}

const SHORT: ReadonlyMap<string, string> = new Map([
  ['\n', '\\n'],
  ['\r', '\\r'],
  ['\t', '\\t'],
])

/**
 * One line of text for people: what would not be seen stands as an escape, line breaks too. Hosts, servers and clients choose
 * much of what is shown to people; their terminal would obey an escape sequence, and a line break would forge a line
 * (as in kubectl, CVE-2021-25743).
 */
export const visibleLine = (text: string): string => text.replaceAll(UNSEEN, escapeOf)

/** The same for text of several lines, which keeps its line breaks and tabs. */
export const visibleText = (text: string): string =>
  text
    .replaceAll('\r\n', '\n')
    .replaceAll(UNSEEN, (character) => (character === '\n' || character === '\t' ? character : escapeOf(character)))

/** JSON with the same meaning for a terminal: JSON itself escapes C0, and leaves the others. */
export const visibleJson = (json: string): string =>
  json.replaceAll(UNSEEN, (character) => (character === '\n' ? character : unitsOf(character)))

/** `\u009b`; of characters beyond the first plane both halves. */
const unitsOf = (character: string): string =>
  character
    .split('')
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('')
