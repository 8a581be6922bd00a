import { Option } from 'commander'
import type { ConfigFormat, TableCommand } from './command-shape.js'
import { configFiles } from './options/config-files.js'
import type { Environment } from './environment.js'
import { COMMAND_OPTIONS, variableOf, type CommandOptionName } from './options/option-table.js'
import { resolveOptions } from './options/resolve-options.js'
import { secretsOnCommandLine, withSecretsOfFiles } from './options/secret-options.js'
import { COMMAND_FAMILIES, COMMAND_TABLE } from './command-table.js'
import { ListOption, type ToolCommand } from './tool-command.js'

/** Runs a command's work, and records its exit code. */
export type PerformWork = (work: () => Promise<number>) => Promise<void>

/** Adds the commands whose options are those of the table. */
export function addTableCommands(program: ToolCommand, environment: Environment, perform: PerformWork): void {
  for (const own of COMMAND_TABLE) addTableCommand(program, own, environment, perform)
}

function addTableCommand(
  program: ToolCommand,
  { usage, description, options: names, descriptions = {}, config, load }: TableCommand<CommandOptionName>,
  environment: Environment,
  perform: PerformWork,
): void {
  const words = usage.split(' ')
  const operand = /^\[?[A-Z]/.test(words.at(-1)!) ? words.pop() : undefined
  const name = words.pop()!
  const [family] = words as (keyof typeof COMMAND_FAMILIES)[]
  const under =
    family === undefined
      ? program
      : (program.commands.find((one) => one.name() === family) ??
        program.command(family).description(COMMAND_FAMILIES[family]))
  const command = under.command(name).description(description)
  // A command with others below it leaves their options to them.
  if (Object.hasOwn(COMMAND_FAMILIES, name)) command.enablePositionalOptions()
  if (operand !== undefined) command.argument(operand.startsWith('[') ? operand : `<${operand}>`)
  for (const option of names) command.addOption(asFlag(option, descriptions[option]))
  command.addOption(configFlag(config))
  command.action(async () => {
    const { IRONSTAGE_CONFIG, ...variables } = environment.variables
    const { config: flag, ...flags } = renameFlags(command.opts())
    const named = [flag ?? (IRONSTAGE_CONFIG || [])].flat() as string[]
    const { own, ini } = config ? await configFiles(named, config.of) : { own: named[0], ini: [] }
    const resolved = await resolveOptions(names, own === undefined ? flags : { ...flags, config: own }, variables)
    const options = await withSecretsOfFiles(resolved)
    for (const warning of secretsOnCommandLine(flags)) environment.stderr.line(`warning: ${warning}`)
    const action = await load()
    await perform(() => action(options, { environment, operands: command.args, configFiles: ini }))
  })
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

function asFlag(name: CommandOptionName, own: string | undefined): Option {
  const { description, schema, ...rest } = COMMAND_OPTIONS[name]
  const flag = `${'short' in rest ? `-${rest.short}, ` : ''}--${name}${'value' in rest ? ` <${rest.value}>` : ''}`
  const text = `${own ?? description} (${variableOf(name)})`
  // Items of a repeated list are collected; they are checked with everything else.
  return schema.type === 'array' ? new ListOption(flag, text) : new Option(flag, text)
}

/** Commander names `--append-karg` `appendKarg`, and `--no-cache` `cache`, which is true when the flag is absent. */
const renameFlags = (flags: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(flags).map(([key, value]) => {
      const name = key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
      return value === false ? [`no-${name}`, true] : [name, value]
    }),
  )
