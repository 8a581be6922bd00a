import { errorChain } from '../../runtime/index.js'
import type { Process, Program } from './program.js'

/**
 * Options of a program by their long name: a short letter or nothing, and `=` when they take a value:
 * `{ bytes: 'b', output: 'o=', json: '', 'root-only': '=' }`. Without a long form the letter is the name: `{ L: 'L=' }`.
 */
export type OptionTable = Readonly<Record<string, string>>

export interface Options {
  has(name: string): boolean
  /** The last one given. */
  value(name: string): string | undefined
  values(name: string): string[]
  /** Everything that is not an option, in order. */
  readonly rest: readonly string[]
}

/** Ends a program: `NAME: MESSAGE` on stderr and this exit code. */
export class ToolFailure extends Error {
  override name = 'ToolFailure'
  constructor(
    message: string,
    readonly exitCode = 1,
  ) {
    super(message)
  }
}

/** Ends a program without a word. */
export class ToolExit extends Error {
  override name = 'ToolExit'
  constructor(readonly exitCode: number) {
    super(`exit ${exitCode}`)
  }
}

/** Sentences of strerror(3). */
const STRERROR: Readonly<Record<string, string>> = {
  EACCES: 'Permission denied',
  EBUSY: 'Device or resource busy',
  EEXIST: 'File exists',
  EINVAL: 'Invalid argument',
  EIO: 'Input/output error',
  EISDIR: 'Is a directory',
  ELOOP: 'Too many levels of symbolic links',
  EUCLEAN: 'Structure needs cleaning',
  EFBIG: 'File too large',
  ENOENT: 'No such file or directory',
  ENOSPC: 'No space left on device',
  ENOTDIR: 'Not a directory',
  ENOTEMPTY: 'Directory not empty',
  EROFS: 'Read-only file system',
}

/** What strerror says of an error's code; undefined for errors that no system call gave. */
export function strerror(error: unknown): string | undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return typeof code === 'string' ? STRERROR[code] : undefined
}

/**
 * A program with options as getopt_long reads them. Unknown options end it as they end util-linux's and coreutils'
 * programs; a failed access to a file or disk ends it with that error's sentence.
 */
export function tool(
  name: string,
  options: OptionTable,
  run: (process: Process, options: Options) => Promise<number | void> | number | void,
): Program {
  return async (process) => {
    try {
      return (await run(process, parseOptions(process.argv.slice(1), options))) ?? 0
    } catch (error) {
      if (process.signal.aborted) throw error
      if (error instanceof ToolExit) return error.exitCode
      if (error instanceof ToolFailure) {
        process.stderr(`${name}: ${error.message}\n`)
        return error.exitCode
      }
      const sentence = strerror(error)
      if (sentence === undefined) throw new Error(`running ${process.argv.join(' ')}`, { cause: error })
      const path = error instanceof Error && 'path' in error ? `${String(error.path)}: ` : ''
      process.stderr(`${name}: ${path}${sentence}\n`)
      process.stderr(errorChain(error).length > 1 ? `${name}: ${errorChain(error).at(-1)!}\n` : '')
      return 1
    }
  }
}

/** @throws ToolFailure for an option that is not in the table, or lacks its value */
function parseOptions(argv: readonly string[], table: OptionTable): Options {
  const given: [string, string][] = []
  const rest: string[] = []
  const short = new Map(Object.entries(table).map(([name, form]) => [form.replace('=', ''), name]))
  const takesValue = (name: string) => table[name]!.endsWith('=')
  for (let at = 0; at < argv.length; at++) {
    const word = argv[at]!
    if (word === '--') {
      rest.push(...argv.slice(at + 1))
      break
    }
    const next = (option: string): string => {
      const value = argv[++at]
      if (value === undefined) throw new ToolFailure(`option ${option} requires an argument`)
      return value
    }
    if (word.startsWith('--')) {
      const [name, attached] = splitOnce(word.slice(2), '=')
      if (table[name] === undefined) throw new ToolFailure(`unrecognized option '--${name}'`)
      given.push([name, takesValue(name) ? (attached ?? next(`'--${name}'`)) : ''])
    } else if (word.startsWith('-') && word.length > 1) {
      for (let letter = 1; letter < word.length; letter++) {
        const name = short.get(word[letter]!)
        if (name === undefined) throw new ToolFailure(`invalid option -- '${word[letter]!}'`)
        if (!takesValue(name)) {
          given.push([name, ''])
          continue
        }
        const attached = word.slice(letter + 1)
        given.push([name, attached === '' ? next(`-- '${word[letter]!}'`) : attached])
        break
      }
    } else rest.push(word)
  }
  const values = (name: string) => given.filter(([option]) => option === name).map(([, value]) => value)
  return { has: (name) => values(name).length > 0, value: (name) => values(name).at(-1), values, rest }
}

export function splitOnce(text: string, separator: string): [string, string | undefined] {
  const at = text.indexOf(separator)
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + separator.length)]
}

/** Rows as columns of equal width, the last one not padded. `right` holds the indexes of right-aligned columns. */
export function columns(rows: readonly (readonly string[])[], right: ReadonlySet<number> = new Set()): string {
  const widths = (rows[0] ?? []).map((_, index) => Math.max(...rows.map((row) => row[index]!.length)))
  return rows
    .map((row) =>
      row
        .map((cell, index) =>
          right.has(index)
            ? cell.padStart(widths[index]!)
            : index === row.length - 1
              ? cell
              : cell.padEnd(widths[index]!),
        )
        .join(' '),
    )
    .map((line) => `${line}\n`)
    .join('')
}

/** JSON as util-linux prints it: three spaces, neighbouring objects joined by `},{`. */
export function utilLinuxJson(value: unknown): string {
  return `${JSON.stringify(value, null, 3).replaceAll(/\},\n\s*\{/g, '},{')}\n`
}
