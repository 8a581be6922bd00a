/**
 * Error of Python's JSON reader for a text that is no JSON. It names the place where no value begins; in a text that
 * breaks off in the middle, Python names the token that it was in, and this the end.
 */
export function pythonJsonError(text: string): string {
  const isBeginning = /^\s*["[{\d-]/.test(text)
  const at = isBeginning ? text.length : text.length - text.trimStart().length
  const before = text.slice(0, at).split('\n')
  return `Expecting value: line ${before.length} column ${before.at(-1)!.length + 1} (char ${at})`
}
