import { mostSimilar } from './similar.js'

/** An option with its names and its kind of value. */
export type OptionSpec = {
  long: string
  short?: string
  /** Another accepted name. */
  alias?: string
  /** Left out of help and usage lines. */
  hidden?: boolean
  /** True if the option may not be repeated. */
  once?: boolean
} & (
  | { kind: 'flag' }
  | {
      kind: 'value' | 'list'
      placeholder: string
      /** Takes the next argument even when it looks like an option. */
      greedy?: boolean
      /** Error of a value; undefined for a valid one. */
      check?: (value: string) => string | undefined
      /** Canonical form of a valid value. */
      normal?: (value: string) => string
    }
)

/** Options and operand of a subcommand. */
export interface Syntax {
  /** `coreos-installer install` */
  command: string
  options: readonly OptionSpec[]
  /** The operand's name, and the option that makes it optional. */
  operand?: { name: string; unless: string }
  /** Pairs that exclude each other. */
  conflicts: readonly (readonly [string, string])[]
}

/** Parsed values by option, in the order of first mention. */
export interface ParsedArguments {
  values: Map<OptionSpec, string[]>
  operand: string | undefined
}

/** An error in a command line; `text` is printed on stderr, with exit code 2. */
export class UsageError extends Error {
  override name = 'UsageError'

  constructor(readonly text: string) {
    super(text.split('\n')[0])
  }
}

export const MORE = "For more information, try '--help'.\n"
const HELP: OptionSpec = { long: 'help', short: 'h', kind: 'flag' }

/**
 * Parses a command line as clap 4 does, coreos-installer's Rust library: it reports the first error in clap's order
 * (seen with 0.27.0: the value of an option is checked when the next argument has been recognised), with clap's
 * suggestions and usage lines.
 *
 * @returns `help` and `summary` for `--help` and `-h`
 * @throws UsageError
 */
export function parseCommandLine(syntax: Syntax, args: readonly string[]): ParsedArguments | 'help' | 'summary' {
  return new Parser(syntax).parse(args)
}

class Parser {
  readonly #syntax: Syntax
  readonly #options: readonly OptionSpec[]
  readonly #parsed: ParsedArguments = { values: new Map(), operand: undefined }
  #pending: { spec: OptionSpec; value: string | undefined } | undefined

  constructor(syntax: Syntax) {
    this.#syntax = syntax
    this.#options = [...syntax.options, HELP]
  }

  parse(args: readonly string[]): ParsedArguments | 'help' | 'summary' {
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
    return this.#parsed
  }

  #operand(arg: string): void {
    if (!this.#syntax.operand || this.#parsed.operand !== undefined)
      throw new UsageError(`error: unexpected argument '${arg}' found\n\n${this.#usage([])}\n\n${MORE}`)
    this.#settle()
    this.#parsed.operand = arg
  }

  /** @returns whether the argument asks for help */
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

  /** Checks the value of the previous option. */
  #settle(): void {
    if (!this.#pending) return
    const { spec, value } = this.#pending
    this.#pending = undefined
    if (value === undefined)
      throw new UsageError(
        `error: a value is required for '${formatOptionName(spec)}' but none was supplied\n\n${MORE}`,
      )
    const wrong = spec.kind === 'flag' ? undefined : spec.check?.(value)
    if (wrong !== undefined)
      throw new UsageError(`error: invalid value '${value}' for '${formatOptionName(spec)}': ${wrong}\n\n${MORE}`)
    this.#put(spec, value)
  }

  #put(spec: OptionSpec, value: string): void {
    const before = this.#parsed.values.get(spec)
    if (before && spec.once)
      throw new UsageError(
        `error: the argument '${formatOptionName(spec)}' cannot be used multiple times\n\n${this.#usage([])}\n\n${MORE}`,
      )
    this.#parsed.values.set(spec, [...(before ?? []), value])
  }

  #unknown(name: string): UsageError {
    const last = this.#pending?.value === undefined ? [] : [this.#pending.spec]
    const used = [...this.#parsed.values.keys(), ...last]
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
    const specs = [...this.#parsed.values.keys()]
    for (const spec of specs) {
      const others = specs.filter(({ long }) =>
        conflicts.some(([one, two]) => (one === spec.long && two === long) || (two === spec.long && one === long)),
      )
      if (others.length === 0) continue
      const list =
        others.length === 1
          ? ` '${formatOptionName(others[0]!)}'`
          : `:\n${others.map((o) => `  ${formatOptionName(o)}`).join('\n')}`
      const rest = specs.filter((one) => !others.includes(one))
      throw new UsageError(
        `error: the argument '${formatOptionName(spec)}' cannot be used with${list}\n\n${this.#usage(rest, true)}\n\n${MORE}`,
      )
    }
  }

  #checkOperand(): void {
    const { operand } = this.#syntax
    const specs = [...this.#parsed.values.keys()]
    if (!operand || this.#parsed.operand !== undefined || specs.some(({ long }) => long === operand.unless)) return
    throw new UsageError(
      `error: the following required arguments were not provided:\n  <${operand.name}>\n\n` +
        `${this.#usage(specs, 'required')}\n\n${MORE}`,
    )
  }

  /**
   * Usage line with the used options in their order, then the operand, shown as required when it was passed.
   *
   * @param operand whether a passed operand counts; `required` always shows it as required
   */
  #usage(used: readonly OptionSpec[], operand: boolean | 'required' = used.length > 0): string {
    const { command } = this.#syntax
    const shown = [...new Set(used)].filter(({ hidden }) => !hidden).map(formatOptionName)
    const name = this.#syntax.operand?.name
    const there = operand === 'required' || (operand && this.#parsed.operand !== undefined)
    if (shown.length === 0 && !there)
      return ['Usage:', command, '[OPTIONS]', ...(name === undefined ? [] : [`[${name}]`])].join(' ')
    return ['Usage:', command, ...shown, ...(name === undefined ? [] : [there ? `<${name}>` : `[${name}]`])].join(' ')
  }
}

/** `--image-file <path>` */
const formatOptionName = (spec: OptionSpec): string =>
  spec.kind === 'flag' ? `--${spec.long}` : `--${spec.long} <${spec.placeholder}>`
