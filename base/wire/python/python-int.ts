/** `int(text)` of Python, blanks, signs and underscores included; undefined where it throws. */
export function pythonInt(text: string): number | undefined {
  const digits = text.trim()
  return /^[+-]?\d+(_\d+)*$/.test(digits) ? Number(digits.replaceAll('_', '')) : undefined
}
