import { CONFLICTS, INSTALL_OPTIONS, type InstallOptions, type OptionSpec } from './options.js'

/** A command line that cannot be understood; `text` is what goes to stderr, exit code 2. */
export class UsageError extends Error {
  override name = 'UsageError'

  constructor(readonly text: string) {
    super(text.split('\n')[0])
  }
}

const HELP = "For more information, try '--help'.\n"
const OPTIONS: readonly OptionSpec[] = INSTALL_OPTIONS

/** An occurrence on the command line, in order. */
interface Given {
  spec: OptionSpec
  value: string
}

/**
 * Parses what follows `coreos-installer install`, as clap does: repeated single values overwrite, conflicts and unknown
 * options are usage errors with the texts that were recorded.
 *
 * @param options.deviceRequired a config file may name the device instead
 * @throws UsageError
 */
export function parseInstall(
  args: readonly string[],
  { deviceRequired = true }: { deviceRequired?: boolean } = {},
): InstallOptions | 'help' {
  const given: Given[] = []
  let device: string | undefined
  let onlyValues = false
  for (let index = 0; index < args.length; index++) {
    const arg = args[index]!
    if (onlyValues || arg === '-' || !arg.startsWith('-')) {
      if (device !== undefined) throw unexpected(arg, given)
      device = arg
    } else if (arg === '--') onlyValues = true
    else if (arg === '--help' || arg === '-h') return 'help'
    else if (arg.startsWith('--')) index += long(arg, args[index + 1], given)
    else index += short(arg, args[index + 1], given)
  }
  checkConflicts(given)
  if (deviceRequired && device === undefined && !given.some(({ spec }) => spec.long === 'config-file'))
    throw new UsageError(
      `error: the following required arguments were not provided:\n  <DEST_DEVICE>\n\n${usage(given)}\n\n${HELP}`,
    )
  return collect(given, device)
}

/** @returns how many further arguments were used up */
function long(arg: string, next: string | undefined, given: Given[]): number {
  const equals = arg.indexOf('=')
  const name = equals < 0 ? arg : arg.slice(0, equals)
  const spec = OPTIONS.find((option) => `--${option.long}` === name || (name === '--ignition' && option.short === 'i'))
  if (!spec) throw unexpected(name, given)
  if (spec.kind === 'flag') {
    if (equals >= 0)
      throw new UsageError(
        `error: unexpected value '${arg.slice(equals + 1)}' for '${name}' found; no more were expected\n\n${usage(given)}\n\n${HELP}`,
      )
    given.push({ spec, value: '' })
    return 0
  }
  return equals >= 0 ? take(spec, arg.slice(equals + 1), given, 0) : take(spec, next, given, 1)
}

function short(arg: string, next: string | undefined, given: Given[]): number {
  for (let at = 1; at < arg.length; at++) {
    const spec = OPTIONS.find((option) => option.short === arg[at])
    if (!spec) throw unexpected(`-${arg[at]}`, given)
    if (spec.kind !== 'flag') {
      const rest = arg.slice(at + 1).replace(/^=/, '')
      return rest === '' ? take(spec, next, given, 1) : take(spec, rest, given, 0)
    }
    given.push({ spec, value: '' })
  }
  return 0
}

function take(spec: OptionSpec, value: string | undefined, given: Given[], used: number): number {
  if (value === undefined || (used === 1 && value.startsWith('-') && value !== '-'))
    throw new UsageError(`error: a value is required for '${named(spec)}' but none was supplied\n\n${HELP}`)
  const wrong = spec.kind === 'flag' ? undefined : spec.check?.(value)
  if (wrong !== undefined)
    throw new UsageError(`error: invalid value '${value}' for '${named(spec)}': ${wrong}\n\n${HELP}`)
  given.push({ spec, value })
  return used
}

function checkConflicts(given: readonly Given[]): void {
  for (const { spec } of given)
    for (const [one, two] of CONFLICTS) {
      const other = spec.long === one ? two : spec.long === two ? one : undefined
      const conflict = given.find((candidate) => candidate.spec.long === other)
      if (conflict)
        throw new UsageError(
          `error: the argument '${named(spec)}' cannot be used with '${named(conflict.spec)}'\n\n` +
            `${usage(given.filter((one) => one.spec !== conflict.spec))}\n\n${HELP}`,
        )
    }
}

function unexpected(arg: string, given: readonly Given[]): UsageError {
  const tip = arg.startsWith('-') ? `  tip: to pass '${arg}' as a value, use '-- ${arg}'\n\n` : ''
  return new UsageError(`error: unexpected argument '${arg}' found\n\n${tip}${usage(given)}\n\n${HELP}`)
}

const named = (spec: OptionSpec): string =>
  spec.kind === 'flag' ? `--${spec.long}` : `--${spec.long} <${spec.placeholder}>`

/** The options given so far, in the order of the help text. */
function usage(given: readonly Given[]): string {
  const used = OPTIONS.filter((option) => !option.hidden && given.some(({ spec }) => spec === option))
  return ['Usage: coreos-installer install', ...used.map(named), '<DEST_DEVICE>'].join(' ')
}

function collect(given: readonly Given[], destDevice: string | undefined): InstallOptions {
  const options: Record<string, unknown> = { destDevice }
  for (const spec of OPTIONS) {
    const values = given.filter((one) => one.spec === spec).map(({ value }) => value)
    const name = spec.long.replaceAll(/-(.)/g, (_, letter: string) => letter.toUpperCase())
    options[name] = spec.kind === 'flag' ? values.length > 0 : spec.kind === 'list' ? values : values.at(-1)
  }
  return options as InstallOptions
}
