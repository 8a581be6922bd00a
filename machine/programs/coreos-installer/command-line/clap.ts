import { mostSimilar } from './similar.js'

/** What an option takes and where its value goes. */
export type OptionSpec = {
  long: string
  short?: string
  /** Another name that is understood. */
  alias?: string
  /** Not in help and usage lines. */
  hidden?: boolean
  /** A single value that may not be given again. */
  once?: boolean
} & (
  | { kind: 'flag' }
  | {
      kind: 'value' | 'list'
      placeholder: string
      /** Takes whatever comes next, options included. */
      greedy?: boolean
      /** What is wrong with a value. */
      check?: (value: string) => string | undefined
      /** How a correct value is written out again. */
      normal?: (value: string) => string
    }
)

/** What follows a subcommand. */
export interface Syntax {
  /** `coreos-installer install` */
  command: string
  options: readonly OptionSpec[]
  /** The one operand: its name, and the option that does without it. */
  operand?: { name: string; unless: string }
  /** Pairs that exclude each other. */
  conflicts: readonly (readonly [string, string])[]
}

/** What was given, by option in the order of first mention. */
export interface Given {
  values: Map<OptionSpec, string[]>
  operand: string | undefined
}

/** A command line that cannot be understood; `text` is what goes to stderr, exit code 2. */
export class UsageError extends Error {
  override name = 'UsageError'

  constructor(readonly text: string) {
    super(text.split('\n')[0])
  }
}

export const MORE = "For more information, try '--help'.\n"
const HELP: OptionSpec = { long: 'help', short: 'h', kind: 'flag' }

/**
 * Reads a command line as clap 4 does, the Rust library that coreos-installer is made with: the first mistake is told,
 * in the order in which clap comes upon them (seen with 0.27.0: the value of an option is looked at when the next
 * argument has been recognised), with its suggestions and its usage lines.
 *
 * @returns `help` and `summary` for `--help` and `-h`
 * @throws UsageError
 */
export function parse(syntax: Syntax, args: readonly string[]): Given | 'help' | 'summary' {
  return new Parser(syntax).parse(args)
}

class Parser {
  readonly #syntax: Syntax
  readonly #options: readonly OptionSpec[]
  readonly #given: Given = { values: new Map(), operand: undefined }
  #pending: { spec: OptionSpec; value: string | undefined } | undefined

  constructor(syntax: Syntax) {
    this.#syntax = syntax
    this.#options = [...syntax.options, HELP]
  }

  parse(args: readonly string[]): Given | 'help' | 'summary' {
    let onlyOperands = false
    for (const arg of args) {
      const wanting = this.#pending && this.#pending.value === undefined ? this.#pending : undefined
      if (wanting && 'greedy' in wanting.spec) wanting.value = arg
      else if (!onlyOperands && arg === '--') {
        onlyOperands = true
        this.#settle()
      } else if (!onlyOperands && arg.startsWith('--')) {
        if (this.#long(arg)) return 'help'
      } else if (!onlyOperands && arg.startsWith('-') && arg !== '-') {
        if (this.#short(arg)) return 'summary'
      } else if (wanting) wanting.value = arg
      else this.#operand(arg)
    }
    this.#settle()
    this.#checkConflicts()
    this.#checkOperand()
    return this.#given
  }

  #operand(arg: string): void {
    if (!this.#syntax.operand || this.#given.operand !== undefined)
      throw new UsageError(`error: unexpected argument '${arg}' found\n\n${this.#usage([])}\n\n${MORE}`)
    this.#settle()
    this.#given.operand = arg
  }

  /** @returns whether help is asked for */
  #long(arg: string): boolean {
    const equals = arg.indexOf('=')
    const name = equals < 0 ? arg : arg.slice(0, equals)
    const spec = this.#options.find(({ long, alias }) => name === `--${long}` || name === `--${alias}`)
    if (!spec) throw this.#unknown(name)
    if (spec.kind === 'flag' && equals >= 0)
      throw new UsageError(
        `error: unexpected value '${arg.slice(equals + 1)}' for '${name}' found; no more were expected\n\n` +
          `${this.#usage([spec], false)}\n\n${MORE}`,
      )
    this.#take(spec, equals < 0 ? undefined : arg.slice(equals + 1))
    return spec === HELP
  }

  #short(arg: string): boolean {
    const letters = [...arg.slice(1)]
    for (const [at, letter] of letters.entries()) {
      const spec = this.#options.find(({ short }) => short === letter)
      if (!spec) throw this.#unexpected(`-${letter}`, [])
      const rest = letters.slice(at + 1).join('')
      this.#take(spec, spec.kind === 'flag' || rest === '' ? undefined : rest.replace(/^=/, ''))
      if (spec === HELP) return true
      if (spec.kind !== 'flag') break
    }
    return false
  }

  #take(spec: OptionSpec, value: string | undefined): void {
    this.#settle()
    if (spec.kind === 'flag') this.#put(spec, '')
    else this.#pending = { spec, value }
  }

  /** Looks at the value of the option before. */
  #settle(): void {
    if (!this.#pending) return
    const { spec, value } = this.#pending
    this.#pending = undefined
    if (value === undefined)
      throw new UsageError(`error: a value is required for '${named(spec)}' but none was supplied\n\n${MORE}`)
    const wrong = spec.kind === 'flag' ? undefined : spec.check?.(value)
    if (wrong !== undefined)
      throw new UsageError(`error: invalid value '${value}' for '${named(spec)}': ${wrong}\n\n${MORE}`)
    this.#put(spec, value)
  }

  #put(spec: OptionSpec, value: string): void {
    const before = this.#given.values.get(spec)
    if (before && spec.once)
      throw new UsageError(
        `error: the argument '${named(spec)}' cannot be used multiple times\n\n${this.#usage([])}\n\n${MORE}`,
      )
    this.#given.values.set(spec, [...(before ?? []), value])
  }

  #unknown(name: string): UsageError {
    const last = this.#pending?.value === undefined ? [] : [this.#pending.spec]
    const used = [...this.#given.values.keys(), ...last]
    const names = this.#options.flatMap(({ long, alias }) => [long, ...(alias === undefined ? [] : [alias])])
    const near = mostSimilar(name.slice(2), names).at(-1)
    if (near === undefined) return this.#unexpected(name, used)
    const meant = this.#options.find(({ long, alias }) => long === near || alias === near)!
    return new UsageError(
      `error: unexpected argument '${name}' found\n\n  tip: a similar argument exists: '--${near}'\n\n` +
        `${this.#usage([...used, meant])}\n\n${MORE}`,
    )
  }

  #unexpected(arg: string, used: readonly OptionSpec[]): UsageError {
    const tip = this.#syntax.operand ? `  tip: to pass '${arg}' as a value, use '-- ${arg}'\n\n` : ''
    return new UsageError(
      `error: unexpected argument '${arg}' found\n\n${tip}${this.#usage(used, arg.startsWith('--'))}\n\n${MORE}`,
    )
  }

  #checkConflicts(): void {
    const { conflicts } = this.#syntax
    const given = [...this.#given.values.keys()]
    for (const spec of given) {
      const others = given.filter(({ long }) =>
        conflicts.some(([one, two]) => (one === spec.long && two === long) || (two === spec.long && one === long)),
      )
      if (others.length === 0) continue
      const list =
        others.length === 1 ? ` '${named(others[0]!)}'` : `:\n${others.map((o) => `  ${named(o)}`).join('\n')}`
      const rest = given.filter((one) => !others.includes(one))
      throw new UsageError(
        `error: the argument '${named(spec)}' cannot be used with${list}\n\n${this.#usage(rest, true)}\n\n${MORE}`,
      )
    }
  }

  #checkOperand(): void {
    const { operand } = this.#syntax
    const given = [...this.#given.values.keys()]
    if (!operand || this.#given.operand !== undefined || given.some(({ long }) => long === operand.unless)) return
    throw new UsageError(
      `error: the following required arguments were not provided:\n  <${operand.name}>\n\n` +
        `${this.#usage(given, 'required')}\n\n${MORE}`,
    )
  }

  /**
   * Options in the order they were given, then the operand: as something that has to be there where it was given.
   *
   * @param operand whether to look at the operand at all
   */
  #usage(used: readonly OptionSpec[], operand: boolean | 'required' = used.length > 0): string {
    const { command } = this.#syntax
    const shown = [...new Set(used)].filter(({ hidden }) => !hidden).map(named)
    const name = this.#syntax.operand?.name
    const there = operand === 'required' || (operand && this.#given.operand !== undefined)
    if (shown.length === 0 && !there)
      return ['Usage:', command, '[OPTIONS]', ...(name === undefined ? [] : [`[${name}]`])].join(' ')
    return ['Usage:', command, ...shown, ...(name === undefined ? [] : [there ? `<${name}>` : `[${name}]`])].join(' ')
  }
}

/** `--image-file <path>` */
export const named = (spec: OptionSpec): string =>
  spec.kind === 'flag' ? `--${spec.long}` : `--${spec.long} <${spec.placeholder}>`
