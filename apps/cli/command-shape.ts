import type { ConfigFile } from '../../base/runtime/index.js'
import type { Environment } from './environment.js'
import type { ToolCommand } from './tool-command.js'
import type { CommandOptionName, CommandOptionValues } from './options/resolve-options.js'

/** Input of a command besides its options. */
interface CommandInput {
  environment: Environment
  /** All commands, for those that describe them. */
  program: ToolCommand
  operands: readonly string[]
  /** In the {@link ConfigFormat} that the command takes. */
  configFiles: readonly ConfigFile[]
}

/** The configuration files of an OpenStack service, beside those of ironstage. */
export interface ConfigFormat {
  of: string
  example: string
}

/** Loads the command's code: help and wrong usage need none of it. */
type LoadCommand<O> = () => Promise<(options: O, input: CommandInput) => Promise<number>>

/** A command whose options are those of the table; they can come from the environment and from a file too. */
export interface TableCommand<N extends CommandOptionName> {
  /** Words and operands: `step run NAME`, `ignition merge FILE...`. */
  usage: string
  description: string
  /** Descriptions of operands whose name says too little. */
  operands?: Readonly<Record<string, string>>
  options: readonly N[]
  /** Options without which the command is used wrongly. */
  required?: readonly N[]
  /** Descriptions of options that mean something of their own here. */
  descriptions?: Partial<Record<N, string>>
  config?: ConfigFormat
  load: LoadCommand<CommandOptionValues<N>>
}

/** A command whose code takes the required options for given. */
interface WrittenCommand<N extends CommandOptionName, R extends N> extends Omit<TableCommand<N>, 'load'> {
  required?: readonly R[]
  load: LoadCommand<CommandOptionValues<N> & Required<Pick<CommandOptionValues<N>, R>>>
}

/** A command, with the names of its options; who runs it checks that the required ones are given. */
export const defineCommand = <N extends CommandOptionName, R extends N = never>(
  command: WrittenCommand<N, R>,
): TableCommand<CommandOptionName> => command as unknown as TableCommand<CommandOptionName>
