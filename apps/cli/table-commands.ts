import { Option, type Command } from 'commander'
import { UserError, type ConfigFile } from '../../base/runtime/index.js'
import type { ConfigFormat, TableCommand } from './command-shape.js'
import { configFiles } from './options/config-files.js'
import type { Environment } from './environment.js'
import {
  COMMAND_OPTIONS,
  flagOf,
  variableOf,
  type CommandOptionName,
  type CommandOptionValues,
} from './options/option-table.js'
import { groupedOptions, optionGroup } from './options/option-groups.js'
import type { CommandOptionShape } from './options/table/option-shape.js'
import { resolveOptions } from './options/resolve-options.js'
import { secretsOnCommandLine, withSecretsOfFiles } from './options/secret-options.js'
import { COMMAND_FAMILIES, COMMAND_TABLE } from './command-table.js'
import { ListOption, ValueOption, type ToolCommand } from './tool-command.js'

/** Runs a command's work, and records its exit code. */
export type PerformWork = (work: () => Promise<number>) => Promise<void>

/** Adds the commands whose options are those of the table. */
export function addTableCommands(program: ToolCommand, environment: Environment, perform: PerformWork): void {
  for (const row of COMMAND_TABLE) addTableCommand(program, row, environment, perform)
}

function addTableCommand(
  program: ToolCommand,
  row: TableCommand<CommandOptionName>,
  environment: Environment,
  perform: PerformWork,
): void {
  const { words, operands } = wordsOf(row.usage)
  const name = words.at(-1)!
  const command = parentOf(program, words).command(name).description(row.description)
  // A command with others below it leaves their options to them.
  if (Object.hasOwn(COMMAND_FAMILIES, name)) command.enablePositionalOptions()
  addOperands(command, operands, row.operands)
  for (const name of groupedOptions(row.options)) {
    const flag = asFlag(name, row.descriptions?.[name])
    const group = optionGroup(name, row.options)
    command.addOption(group === undefined ? flag : flag.helpGroup(group))
  }
  command.addOption(configFlag(row.config))
  command.action(async () => {
    const { options, ini } = await readOptions(command, row, environment)
    const action = await row.load()
    try {
      await perform(() => action(options, { environment, program, operands: command.args, configFiles: ini }))
    } catch (error) {
      throw namingPortOption(error, row.options, options)
    }
  })
}

/** Adds the option of a port that is taken: the error comes from where no option is known. */
function namingPortOption(
  error: unknown,
  names: readonly CommandOptionName[],
  options: CommandOptionValues<CommandOptionName>,
): unknown {
  if (!(error instanceof UserError) || error.code !== 'port-in-use') return error
  const [, taken] = /^port (\d+) on /.exec(error.message) ?? []
  const ports = names.filter((name) => /(^|-)port$|^kube-api$/.test(name))
  // The option `port` has a default, which is not among the values.
  const name =
    ports.find((each) => String(options[each]) === taken) ??
    ports.find((each) => each === 'port' && options[each] === undefined)
  if (taken === undefined || name === undefined) return error
  return new UserError('port-in-use', error.message, {
    cause: error.cause,
    remedy: `stop the program that listens there, or let --${name} 0 pick a free one`,
  })
}

/** The words of a command, and its operands: `ignition merge FILE...`. */
function wordsOf(usage: string): { words: string[]; operands: string[] } {
  const parts = usage.split(' ')
  const isOperand = (part: string): boolean => /^\[?[A-Z]/.test(part)
  return { words: parts.filter((part) => !isOperand(part)), operands: parts.filter(isOperand) }
}

/** The command that another one is below: the program, or a family of commands. */
function parentOf(program: ToolCommand, words: readonly string[]): Command {
  if (words.length === 1) return program
  const family = words[0] as keyof typeof COMMAND_FAMILIES
  const known = program.commands.find((command) => command.name() === family)
  return known ?? program.command(family).description(COMMAND_FAMILIES[family])
}

function addOperands(
  command: Command,
  operands: readonly string[],
  descriptions: Readonly<Record<string, string>> = {},
): void {
  const isOptional = (operand: string): boolean => operand.startsWith('[')
  // Commander has no optional operand before a required one: the command tells them apart by their number.
  const optionalFirst = operands.some((operand, index) => isOptional(operand) && index < operands.length - 1)
  for (const operand of operands) {
    const name = operand.replace(/[[\]]/g, '')
    const form = optionalFirst || isOptional(operand) ? `[${name}]` : `<${name}>`
    command.argument(form, descriptions[name.replace('...', '')])
  }
  if (optionalFirst) command.usage(`[options] ${operands.join(' ')}`)
}

/** The options of a command from its arguments, the environment and a file, and other configuration files that it takes. */
async function readOptions(
  command: Command,
  { options: names, required = [], config }: TableCommand<CommandOptionName>,
  environment: Environment,
): Promise<{ options: CommandOptionValues<CommandOptionName>; ini: ConfigFile[] }> {
  const { IRONSTAGE_CONFIG, ...variables } = environment.variables
  const { config: flag, ...flags } = namedFlags(command.opts(), names)
  const named = [flag ?? (IRONSTAGE_CONFIG || [])].flat() as string[]
  const { own, ini } = config ? await configFiles(named, config.of) : { own: named[0], ini: [] }
  const resolved = await resolveOptions(names, own === undefined ? flags : { ...flags, config: own }, variables)
  for (const name of required as readonly CommandOptionName[])
    if (resolved[name] === undefined) command.error(`required option '${asFlag(name).flags}' not specified`)
  const options = await withSecretsOfFiles(resolved)
  for (const warning of secretsOnCommandLine(flags)) environment.stderr.line(`warning: ${warning}`)
  return { options, ini }
}

function configFlag(format: ConfigFormat | undefined): Option {
  const flag = '--config <FILE>'
  if (!format) return new Option(flag, 'YAML file with any of these options (IRONSTAGE_CONFIG)')
  return new ListOption(
    flag,
    `YAML file with any of these options, or a file of ${format.of} (${format.example}), or a folder with ` +
      'some of these; may be repeated (IRONSTAGE_CONFIG)',
  )
}

function asFlag(name: CommandOptionName, own?: string): Option {
  const { short, value, description, schema }: CommandOptionShape = COMMAND_OPTIONS[name]
  const flag = flagOf(name)
  const form = `${short === undefined ? '' : `-${short}, `}--${flag}${value === undefined ? '' : ` <${value}>`}`
  const elsewhere = flag === name ? variableOf(name) : `${variableOf(name)}, key ${name}`
  const text = `${own ?? description} (${elsewhere})`
  // Items of a repeated list are collected; they are checked with everything else.
  return schema.type === 'array'
    ? new ListOption(form, text, wordsIn(schema))
    : new ValueOption(form, text, wordsIn(schema))
}

/** The values that a schema lists. */
function wordsIn({ enum: words, items }: CommandOptionShape['schema']): readonly string[] {
  const listed = words ?? (items as { enum?: unknown } | undefined)?.enum
  return Array.isArray(listed) ? listed.map(String) : []
}

/**
 * Options by their names in the table. Commander names `--append-karg` `appendKarg`, and `--no-cache` `cache`, which is
 * true when the flag is absent.
 */
function namedFlags(flags: Record<string, unknown>, names: readonly CommandOptionName[]): Record<string, unknown> {
  const nameOf = new Map<string, string>(names.map((name) => [flagOf(name), name]))
  const named: Record<string, unknown> = {}
  for (const [key, value] of Object.entries(flags)) {
    const word = key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
    const flag = value === false ? `no-${word}` : word
    named[nameOf.get(flag) ?? flag] = value === false ? true : value
  }
  return named
}
