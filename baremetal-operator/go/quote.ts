/** A text as Go's `%q` writes it. */
export function goQuote(text: string): string {
  const escaped = [...text].map((each) => {
    const known = GO_ESCAPES[each]
    if (known !== undefined) return known
    const code = each.codePointAt(0)!
    return code < 0x20 || code === 0x7f ? `\\x${code.toString(16).padStart(2, '0')}` : each
  })
  return `"${escaped.join('')}"`
}

const GO_ESCAPES: Readonly<Record<string, string>> = {
  '"': '\\"',
  '\\': '\\\\',
  '\x07': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
}
