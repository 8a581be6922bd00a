import type { Command } from 'commander'
import { addBootImageCommands } from './boot-image.js'
import { addDownloadCommand } from './download.js'
import type { Environment } from './environment.js'
import { addMachineOsCommands } from './machine-os.js'
import { addStreamCommands } from './stream-commands.js'

/** Gives a command what it does; the operands and options are as commander parsed them. */
export type Does = <O extends object>(
  command: Command,
  run: (operands: readonly (string | string[] | undefined)[], options: O, environment: Environment) => Promise<number>,
) => void

/** Adds the commands for metadata, and for the files that it tells of. */
export function addMetadataCommands(program: Command, environment: Environment, ended: (code: number) => void): void {
  const does: Does = (command, run) => {
    command.action(async () => {
      ended(await run(command.processedArgs as (string | string[] | undefined)[], command.opts(), environment))
    })
  }
  addStreamCommands(program, does)
  addDownloadCommand(program, does)
  addBootImageCommands(program, does)
  addMachineOsCommands(program, does)
}
