/**
 * A JSON value as Python prints it: `{'serial': 'x', 'size': None}`. IPA's and Ironic's sentences quote dictionaries
 * this way, and people search for them.
 */
export function pythonRepr(value: unknown): string {
  if (value === null || value === undefined) return 'None'
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  if (typeof value === 'string') return quotePythonText(value)
  if (Array.isArray(value)) return `[${value.map(pythonRepr).join(', ')}]`
  if (typeof value === 'object')
    return `{${Object.entries(value)
      .map(([key, item]) => `${quotePythonText(key)}: ${pythonRepr(item)}`)
      .join(', ')}}`
  return String(value)
}

/** Python prefers single quotes, and takes double ones when that saves escaping. */
function quotePythonText(text: string): string {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'"
  const escaped = text
    .replaceAll('\\', '\\\\')
    .replaceAll('\n', '\\n')
    .replaceAll('\r', '\\r')
    .replaceAll('\t', '\\t')
    .replaceAll(quote, `\\${quote}`)
  return quote + escaped + quote
}

/**
 * A value of a client's document as text. `String` would call the method that a client's object may well have as a member:
 * `{"toString": 1}` ends that in an exception.
 */
export const formatClientValue = (value: unknown): string =>
  typeof value === 'object' && value !== null ? pythonRepr(value) : String(value)
