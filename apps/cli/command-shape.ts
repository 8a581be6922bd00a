import type { ConfigFile } from '../../base/runtime/index.js'
import type { Environment } from './environment.js'
import type { CommandOptionName, CommandOptionValues } from './options/resolve-options.js'

/** Input of a command besides its options. */
export interface CommandInput {
  environment: Environment
  operands: readonly string[]
  /** In the {@link ConfigFormat} that the command takes. */
  configFiles: readonly ConfigFile[]
}

/** The configuration files of an OpenStack service, beside those of ironstage. */
export interface ConfigFormat {
  of: string
  example: string
}

/** A command whose options are those of the table; they can come from the environment and from a file too. */
export interface TableCommand<N extends CommandOptionName> {
  /** Words and operands: `step run NAME`, `ignition merge FILE...`. */
  usage: string
  description: string
  options: readonly N[]
  /** Descriptions of options that mean something of their own here. */
  descriptions?: Partial<Record<N, string>>
  config?: ConfigFormat
  /** Loads the command's code: help and wrong usage need none of it. */
  load: () => Promise<(options: CommandOptionValues<N>, input: CommandInput) => Promise<number>>
}

/** A command, with the names of its options. */
export const defineCommand = <N extends CommandOptionName>(one: TableCommand<N>): TableCommand<CommandOptionName> => one
