import type { Command } from 'commander'
import { addBootImageCommands } from './boot-image-commands.js'
import { addDownloadCommand } from './download-command.js'
import type { Environment } from '../environment.js'
import { addMachineOsCommands } from './machine-os-commands.js'
import { addStreamCommands } from './stream-commands.js'

/** A command's work; the operands and options are as commander parsed them. Resolves with the exit code. */
export type Action<O> = (
  operands: readonly (string | string[] | undefined)[],
  options: O,
  environment: Environment,
) => Promise<number>

/** Gives a command its action, which is loaded when the command runs: help and wrong usage need none of it. */
export type Does = <O extends object>(command: Command, load: () => Promise<Action<O>>) => void

/** Adds the commands for metadata, and for the files that it tells of. */
export function addMetadataCommands(program: Command, does: Does): void {
  addStreamCommands(program, does)
  addDownloadCommand(program, does)
  addBootImageCommands(program, does)
  addMachineOsCommands(program, does)
}
