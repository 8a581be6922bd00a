import type { Command } from 'commander'
import type { Environment } from './environment.js'

/** A command's work; the operands and options are as commander parsed them. Resolves with the exit code. */
export type CommandAction<O> = (
  operands: readonly (string | string[] | undefined)[],
  options: O,
  environment: Environment,
) => Promise<number>

/** Sets a command's action, which is loaded when the command runs: help and wrong usage load none of it. */
export type AddAction = <O extends object>(command: Command, load: () => Promise<CommandAction<O>>) => void
