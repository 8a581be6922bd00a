import { errorChain } from '../../base/runtime/index.js'
import type { Process, MachineProgram } from './machine-program.js'

/**
 * Options of a program by long name, with the short letter if any, and `=` when they take a value:
 * `{ bytes: 'b', output: 'o=', json: '', 'root-only': '=' }`. Without a long form the letter is the name: `{ L: 'L=' }`.
 */
export type OptionTable = Readonly<Record<string, string>>

export interface ToolOptions {
  has(name: string): boolean
  /** The last value of an option. */
  value(name: string): string | undefined
  values(name: string): string[]
  /** Operands in order. */
  readonly rest: readonly string[]
}

/** Ends a program with `NAME: MESSAGE` on stderr and an exit code. */
export class ToolFailure extends Error {
  override name = 'ToolFailure'
  constructor(
    message: string,
    readonly exitCode = 1,
  ) {
    super(message)
  }
}

/** Ends a program with an exit code and no message. */
export class ToolExit extends Error {
  override name = 'ToolExit'
  constructor(readonly exitCode: number) {
    super(`exit ${exitCode}`)
  }
}

/** Messages of strerror(3). */
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

/** strerror(3)'s message for an error's code; undefined for an error without one. */
export function strerror(error: unknown): string | undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return typeof code === 'string' ? STRERROR[code] : undefined
}

/**
 * Makes a program with options as getopt_long parses them. An unknown option ends it as in util-linux and coreutils; a
 * failed access to a file or disk ends it with the message of the error.
 */
export function defineTool(
  name: string,
  options: OptionTable,
  run: (process: Process, options: ToolOptions) => Promise<number | void> | number | void,
): MachineProgram {
  const short = new Map(Object.entries(options).map(([name, form]) => [form.replace('=', ''), name]))
  return async (process) => {
    try {
      return (await run(process, parseOptions(process.argv.slice(1), options, short))) ?? 0
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

/** @throws ToolFailure for an unknown option, or one without its value */
function parseOptions(argv: readonly string[], table: OptionTable, short: ReadonlyMap<string, string>): ToolOptions {
  const parsed: [string, string][] = []
  const rest: string[] = []
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
      parsed.push([name, takesValue(name) ? (attached ?? next(`'--${name}'`)) : ''])
    } else if (word.startsWith('-') && word.length > 1) {
      for (let letter = 1; letter < word.length; letter++) {
        const name = short.get(word[letter]!)
        if (name === undefined) throw new ToolFailure(`invalid option -- '${word[letter]!}'`)
        if (!takesValue(name)) {
          parsed.push([name, ''])
          continue
        }
        const attached = word.slice(letter + 1)
        parsed.push([name, attached === '' ? next(`-- '${word[letter]!}'`) : attached])
        break
      }
    } else rest.push(word)
  }
  const values = (name: string) => parsed.filter(([option]) => option === name).map(([, value]) => value)
  return { has: (name) => values(name).length > 0, value: (name) => values(name).at(-1), values, rest }
}

export function splitOnce(text: string, separator: string): [string, string | undefined] {
  const at = text.indexOf(separator)
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + separator.length)]
}

/** JSON as util-linux prints it: indented by three spaces, consecutive objects joined by `},{`. */
export function utilLinuxJson(value: unknown): string {
  return `${JSON.stringify(value, null, 3).replaceAll(/\},\n\s*\{/g, '},{')}\n`
}
