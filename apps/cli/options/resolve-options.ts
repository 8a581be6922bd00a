import type { ErrorObject } from 'ajv'
import type { SchemaCheck } from '../../../base/schemas/index.js'
import { defined, nearestWord, UserError, readNamedText, readNested } from '../../../base/runtime/index.js'
import {
  COMMAND_OPTIONS,
  flagOf,
  variableOf,
  type CommandOptionName,
  type CommandOptionValues,
} from './option-table.js'
import type { CommandOptionShape } from './table/option-shape.js'
import { SECRET_VARIABLES } from './secret-source.js'
import { usageError } from '../usage-error.js'

export { COMMAND_OPTIONS, type CommandOptionName, type CommandOptionValues }

interface OptionSource {
  /** For messages: `--port`, `IRONSTAGE_PORT`, `port in lab.yaml`. */
  label: (name: CommandOptionName) => string
  values: Record<string, unknown>
}

/**
 * Merges flags, environment and config file, and checks each value by the option's schema.
 *
 * @param flags as commander hands them over: strings, booleans, arrays of strings, by option name
 * @throws UserError (usage) that names the option, its source, and what is wrong with it
 */
export async function resolveOptions<N extends CommandOptionName>(
  names: readonly N[],
  flags: Readonly<Record<string, unknown>>,
  variables: Readonly<Record<string, string | undefined>>,
): Promise<CommandOptionValues<N>> {
  const { config, ...ownFlags } = flags
  const configFile = (config as string | undefined) ?? variables['IRONSTAGE_CONFIG']
  const sources = [
    ...(configFile === undefined ? [] : [await configSource(configFile, names)]),
    environmentSource(variables, names),
    { label: (name: CommandOptionName) => `--${flagOf(name)}`, values: ownFlags },
  ]
  const resolved: Record<string, unknown> = {}
  for (const source of sources)
    for (const name of names) {
      const value = source.values[name]
      if (value !== undefined) resolved[name] = await checkOption(name, value, source.label(name))
    }
  return resolved as CommandOptionValues<N>
}

async function configSource(file: string, names: readonly CommandOptionName[]): Promise<OptionSource> {
  const usage = (message: string, remedy: string, cause?: unknown) =>
    new UserError('config-file', message, { kind: 'usage', remedy, ...defined({ cause }) })
  let values: unknown
  try {
    // The parser loads only when there is a config file.
    const { parse } = await import('yaml')
    values = readNested(await readNamedText(file), `the config file ${file}`, (text) => parse(text) as unknown) ?? {}
  } catch (cause) {
    throw usage(`the config file ${file} cannot be read`, 'name a YAML file with --config', cause)
  }
  if (typeof values !== 'object' || Array.isArray(values) || values === null)
    throw usage(`the config file ${file} is not a set of keys and values`, 'write one option a line, as in port: 6385')
  for (const key of Object.keys(values))
    if (!Object.hasOwn(COMMAND_OPTIONS, key))
      throw usage(`the config file ${file} has an unknown key ${key}`, meant(key, names, Object.keys(COMMAND_OPTIONS)))
  return { label: (name) => `${name} in ${file}`, values: values as Record<string, unknown> }
}

/** The nearest word of this command, else of any command; else all words of this command. */
const meant = (word: string, here: readonly string[], anywhere: readonly string[]): string =>
  nearestWord(word, here) ?? nearestWord(word, anywhere) ?? `one of ${here.join(', ')}`

/** Variables without an option: options can be on a command line and in a file, where secrets must not be. */
const NO_OPTIONS = ['IRONSTAGE_CONFIG', ...SECRET_VARIABLES]

function environmentSource(
  variables: Readonly<Record<string, string | undefined>>,
  names: readonly CommandOptionName[],
): OptionSource {
  const known = new Map(Object.keys(COMMAND_OPTIONS).map((name) => [variableOf(name as CommandOptionName), name]))
  const values: Record<string, unknown> = {}
  for (const [variable, value] of Object.entries(variables)) {
    if (!variable.startsWith('IRONSTAGE_') || NO_OPTIONS.includes(variable) || value === undefined) continue
    const name = known.get(variable)
    if (name === undefined)
      throw usageError(
        `the environment has ${variable}, which is not an option of ironstage`,
        `unset it, or ${meant(variable, names.map(variableOf), [...known.keys()])}`,
        'unknown-variable',
      )
    if (value !== '') values[name] = value
  }
  return { label: variableOf, values }
}

const optionChecks = new Map<CommandOptionName, SchemaCheck<{ value: unknown }>>()

/** Flags and variables are texts. The compiler is loaded when it is needed: that takes longer than the rest of a start. */
async function optionCheck(name: CommandOptionName): Promise<SchemaCheck<{ value: unknown }>> {
  const known = optionChecks.get(name)
  if (known) return known
  const { SchemaCompiler } = await import('../../../base/schemas/index.js')
  const { schema } = COMMAND_OPTIONS[name]
  const holderSchema = { type: 'object', properties: { value: schema }, required: ['value'] }
  const check = new SchemaCompiler({ stopsAtFirst: true, readsTexts: true }).check<{ value: unknown }>(holderSchema)
  optionChecks.set(name, check)
  return check
}

/** Keywords of a schema that {@link readWithoutAjv} knows. */
const CHECKED_KEYWORDS = new Set(['type', 'enum', 'pattern', 'minLength', 'items', 'minimum', 'maximum'])

/**
 * The value that ajv would read; undefined where only ajv can tell. Almost all options are valid, and are read so without
 * ajv, which takes longer than the rest of reading them.
 */
export function readWithoutAjv(schema: Readonly<Record<string, unknown>>, value: unknown): unknown {
  if (Object.keys(schema).some((keyword) => !CHECKED_KEYWORDS.has(keyword))) return undefined
  const { type, enum: words, pattern, minLength = 0, items, minimum = -Infinity, maximum = Infinity } = schema
  switch (type) {
    case 'boolean':
      return typeof value === 'boolean' ? value : undefined
    case 'integer': {
      const number = typeof value === 'string' && /^[0-9]{1,15}$/.test(value) ? Number(value) : NaN
      return number >= (minimum as number) && number <= (maximum as number) ? number : undefined
    }
    case 'array': {
      if (!Array.isArray(value)) return undefined
      const read = value.map((item) => readWithoutAjv(items as typeof schema, item))
      return read.includes(undefined) ? undefined : read
    }
    case 'string': {
      const isValid =
        typeof value === 'string' &&
        // A character may be two units of UTF-16.
        value.length >= 2 * (minLength as number) - 1 &&
        (words === undefined || (words as unknown[]).includes(value)) &&
        (pattern === undefined || new RegExp(pattern as string, 'u').test(value))
      return isValid ? value : undefined
    }
    default:
      return undefined
  }
}

async function checkOption(name: CommandOptionName, value: unknown, label: string): Promise<unknown> {
  const isList = COMMAND_OPTIONS[name].schema.type === 'array'
  const holder = { value: isList && typeof value === 'string' ? value.split(/\s+/).filter(Boolean) : value }
  // Coercion would read an empty value as 0 or false.
  const isEmpty = value === null || value === '' || (Array.isArray(value) && value.includes(''))
  const read = isEmpty ? undefined : readWithoutAjv(COMMAND_OPTIONS[name].schema, holder.value)
  if (read !== undefined) return read
  const check = await optionCheck(name)
  if (!isEmpty && check.accepts(holder)) return holder.value
  const [error] = isEmpty ? [] : check.errors()
  const what =
    isEmpty || !error
      ? 'is empty'
      : `is ${JSON.stringify(refusedPart(value, error))}, which ${describeOptionError(error, COMMAND_OPTIONS[name])}`
  throw usageError(`${label} ${what}`, remedyFor(name, value, error), 'bad-option')
}

/** The value, or the one of several that the error is about. */
function refusedPart(value: unknown, { instancePath }: ErrorObject): unknown {
  const [, index] = /^\/value\/(\d+)$/.exec(instancePath) ?? []
  return index === undefined || !Array.isArray(value) ? value : (value as unknown[])[Number(index)]
}

/** A value to use instead: the nearest word of a list, or an example. */
function remedyFor(name: CommandOptionName, value: unknown, error: ErrorObject | undefined): string {
  const words = error?.keyword === 'enum' ? (error.params as { allowedValues: string[] }).allowedValues : []
  const shape: CommandOptionShape = COMMAND_OPTIONS[name]
  const better = (typeof value === 'string' ? nearestWord(value, words) : undefined) ?? words[0] ?? shape.example
  return `--${flagOf(name)}${shape.value === undefined ? '' : ` ${better ?? shape.value}`}`
}

function describeOptionError(error: ErrorObject, { accepted, example }: CommandOptionShape): string {
  const params = error.params as Record<string, unknown>
  switch (error.keyword) {
    case 'type':
      return `is not ${params['type'] === 'integer' ? 'a whole number' : `a ${String(params['type'])}`}`
    case 'enum':
      return `is not one of ${(params['allowedValues'] as string[]).join(', ')}`
    case 'pattern':
      if ((params['pattern'] as string).includes('\\r\\n')) return 'has a line break or a NUL character'
      if (accepted !== undefined) return `is not ${accepted}`
      return example === undefined ? 'is not of the expected form' : `is not of a form such as ${example}`
    default:
      return error.message ?? 'is not valid'
  }
}
