import { UserError, type ErrorCode } from './error.js'

/** A parsed file in Ironic's format: sections of options. */
export interface ConfigFile {
  /** Name of the file, for error messages. */
  readonly name: string
  readonly text: string
}

/**
 * Reads a configuration file in the format of OpenStack's services: sections, `key = value` or `key: value`, lines that
 * go on where they are indented, `#` and `;` for remarks. Of a key that comes twice the last value counts, but of those
 * in `multi` all do, a line each.
 *
 * @param code of the error for a line that is neither; `example` is one that could stand there
 * @returns section to key to value
 * @throws UserError naming file and line
 */
export function parseIni(
  { name, text }: ConfigFile,
  { code, example, multi = [] }: { code: ErrorCode; example: string; multi?: readonly string[] },
): Map<string, Map<string, string>> {
  const sections = new Map<string, Map<string, string>>()
  let section: Map<string, string> | undefined
  let last: string | undefined
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    const trimmed = line.trim()
    const wrong = (what: string): UserError =>
      new UserError(code, `line ${index + 1} of ${name} ${what}: ${trimmed.replace(/[=:].*/, '= ...')}`, {
        kind: 'usage',
        remedy: `write a section like [DEFAULT], and below it lines like ${example}`,
      })
    if (trimmed === '' || /^[#;]/.test(trimmed)) {
      last = undefined
    } else if (/^\s/.test(line) && section && last !== undefined) {
      section.set(last, `${section.get(last)!}\n${trimmed}`)
    } else if (trimmed.startsWith('[')) {
      const title = /^\[([^\]]+)\]$/.exec(trimmed)?.[1]
      if (title === undefined) throw wrong('is not a section')
      section = sections.get(title) ?? new Map<string, string>()
      sections.set(title, section)
      last = undefined
    } else {
      // One pattern for the whole line would backtrack at every blank of the key.
      const end = trimmed.search(/[=:]/)
      if (end < 1) throw wrong('is not a setting')
      const key = trimmed.slice(0, end).trimEnd()
      const value = trimmed.slice(end + 1).trimStart()
      if (!section) throw wrong('comes before any section')
      const before = multi.includes(key) ? section.get(key) : undefined
      section.set(key, (before === undefined ? '' : `${before}\n`) + value.replace(/^(["'])(.*)\1$/, '$2'))
      last = key
    }
  }
  return sections
}
