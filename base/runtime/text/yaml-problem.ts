/** An error of the package yaml, as much of it as is needed: users of the library do not have its types. */
interface YamlError {
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

const SECRET_WORDS = /pass(word|phrase)|secret|token|credential|private.?key/i

/** A longer line is shown from here on, since the mark is to stay on the screen. */
const MAX_SHOWN = 100

/** True if a line, counted from 1, or a key just above it may hold a password: it must not be shown. */
export const mayHoldSecret = (text: string, line: number): boolean => SECRET_WORDS.test(linesUpTo(text, line).join(' '))

/** A line and the two before it. */
const linesUpTo = (text: string, line: number): string[] => text.split('\n').slice(Math.max(0, line - 3), line)

/** Puts an error of the YAML parser into words. */
export function yamlProblem(text: string, { message, pos: [offset] }: YamlError): YamlProblem {
  const before = text.slice(0, offset).split('\n')
  const line = before.length
  const col = before.at(-1)!.length + 1
  // With `prettyErrors` the parser adds the place, and the lines there.
  const reason = message.split('\n')[0]!.replace(/ at line \d+, column \d+:?$/, '')
  const whole = linesUpTo(text, line).at(-1)!.replace(/\r$/, '')
  const from = Math.max(0, col - MAX_SHOWN)
  return {
    line,
    col,
    message: `this is not YAML: ${reason}`,
    shown: mayHoldSecret(text, line) ? [] : [whole.slice(from, from + MAX_SHOWN), `${' '.repeat(col - 1 - from)}^`],
  }
}
