import { UserError, type ErrorCode } from './error.js'

/** A parsed file in Ironic's format: sections of options. */
export interface ConfigFile {
  /** Name of the file, for error messages. */
  readonly name: string
  readonly text: string
}

/** A value of a configuration file. */
export interface IniValue {
  readonly text: string
  /** Line where it begins, from 1. */
  readonly line: number
}

/** How a configuration file is read. */
interface IniOptions {
  /** Code of the error for a line that is neither a section nor a setting. */
  readonly code: ErrorCode
  /** A line that could stand there. */
  readonly example: string
  /** True for a key of which each occurrence adds a value, a line each. */
  readonly isMulti?: (section: string, key: string) => boolean
}

/** Values of a file without their lines: see {@link readIni}. */
export function parseIni(file: ConfigFile, options: IniOptions): Map<string, Map<string, string>> {
  const texts = (values: ReadonlyMap<string, IniValue>) =>
    new Map([...values].map(([key, { text }]): [string, string] => [key, text]))
  return new Map([...readIni(file, options)].map(([title, values]) => [title, texts(values)]))
}

/**
 * Reads a configuration file in the format of OpenStack's services: sections, `key = value` or `key: value`, lines that
 * go on where they are indented, `#` and `;` for remarks. Of a key that comes twice the last value counts.
 *
 * @returns section to key to value
 * @throws UserError naming file and line
 */
export function readIni(
  { name, text }: ConfigFile,
  { code, example, isMulti = () => false }: IniOptions,
): Map<string, Map<string, IniValue>> {
  const sections = new Map<string, Map<string, IniValue>>()
  let section: Map<string, IniValue> | undefined
  let sectionTitle = ''
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
      const begun = section.get(last)!
      section.set(last, { ...begun, text: `${begun.text}\n${trimmed}` })
    } else if (trimmed.startsWith('[')) {
      const title = /^\[([^\]]+)\]$/.exec(trimmed)?.[1]
      if (title === undefined) throw wrong('is not a section')
      section = sections.get(title) ?? new Map<string, IniValue>()
      sections.set(title, section)
      sectionTitle = title
      last = undefined
    } else {
      // One pattern for the whole line would backtrack at every blank of the key.
      const end = trimmed.search(/[=:]/)
      if (end < 1) throw wrong('is not a setting')
      const key = trimmed.slice(0, end).trimEnd()
      const value = trimmed.slice(end + 1).trimStart()
      if (!section) throw wrong('comes before any section')
      const before = isMulti(sectionTitle, key) ? section.get(key) : undefined
      const unquoted = value.replace(/^(["'])(.*)\1$/, '$2')
      section.set(key, { text: before === undefined ? unquoted : `${before.text}\n${unquoted}`, line: index + 1 })
      last = key
    }
  }
  return sections
}
