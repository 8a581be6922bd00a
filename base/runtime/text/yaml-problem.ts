/** An error of the package yaml, as much of it as is needed: users of the library do not have its types. */
export interface YamlError {
  readonly message: string
  readonly pos: readonly [number, number]
}

/** The first mistake of a text that is not YAML; line and column are counted from 1. */
export interface YamlProblem {
  readonly line: number
  readonly col: number
  /** `this is not YAML: Nested mappings are not allowed in compact mappings` */
  readonly message: string
  /** The line itself, and a mark below the column; empty where it, or a key just above it, may hold a password. */
  readonly shown: readonly string[]
}

/** A word beside which a password may stand, or an address with an account. A `credentialsName` names a Secret. */
const SECRET_SIGNS = /pass(w(or)?d|phrase)|secret|token|signature|credential(?!s?Name)|private.?key|:\/\/\S*@/i

/** A longer line is shown from here on, since the mark is to stay on the screen. */
const MAX_SHOWN = 100

/** A line of a YAML text that an error is about; line and column are counted from 1. */
export interface WrongLine {
  readonly line: number
  readonly col: number
  /** The line, or the part of a long one with the column; null where it, or a key just above it, may hold a password. */
  readonly text: string | null
  /** Column of the first character of `text`. */
  readonly from: number
  /** True if the line goes on behind `text`. */
  readonly isCut: boolean
}

/** Finds the line of a place. A text that ends too early is wrong below its last words: then the line of those counts. */
export function wrongLine(text: string, place: { line: number; col: number }): WrongLine {
  const lines = text.split('\n').map((whole) => whole.replace(/\r$/, ''))
  let line = Math.min(place.line, lines.length)
  while (line > 1 && lines[line - 1]!.trim() === '') line--
  const whole = lines[line - 1]!
  const col = line === place.line ? place.col : whole.length + 1
  const from = Math.max(1, col - MAX_SHOWN + 1)
  const end = from - 1 + MAX_SHOWN
  // The line and the two before it.
  const isSecret = SECRET_SIGNS.test(lines.slice(Math.max(0, line - 3), line).join(' '))
  return { line, col, from, text: isSecret ? null : whole.slice(from - 1, end), isCut: whole.length > end }
}

/** The line, and a mark below its column; empty where the line is not shown. */
export const markedLine = ({ text, col, from }: WrongLine): string[] =>
  text === null ? [] : [text, `${' '.repeat(col - from)}^`]

/** Ends a sentence: `, in line 7: times: often`. The text of a line that may hold a password is left out. */
export function wrongLineClause(whole: string, place: { line: number; col: number }): string {
  const { line, text, isCut } = wrongLine(whole, place)
  return `, in line ${line}${text === null ? '' : `: ${text.trim()}${isCut ? '...' : ''}`}`
}

/** Puts an error of the YAML parser into words. */
export function yamlProblem(text: string, { message, pos: [offset] }: YamlError): YamlProblem {
  const before = text.slice(0, offset).split('\n')
  const found = wrongLine(text, { line: before.length, col: before.at(-1)!.length + 1 })
  // With `prettyErrors` the parser adds the place, and the lines there.
  const reason = message.split('\n')[0]!.replace(/ at line \d+, column \d+:?$/, '')
  const isSeveral = reason.startsWith('Source contains multiple documents')
  return {
    line: found.line,
    col: found.col,
    message: isSeveral ? 'there are several YAML documents, not one' : `this is not YAML: ${reason}`,
    shown: markedLine(found),
  }
}
