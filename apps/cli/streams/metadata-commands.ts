import type { Command } from 'commander'
import type { AddAction } from '../command-action.js'
import { addBootImageCommands } from './boot-image-commands.js'
import { addDownloadCommand } from './download-command.js'
import { addImagesMakeCommand } from './images-make-command.js'
import { addMachineOsCommands } from './machine-os-commands.js'
import { addReleaseCommands } from './release-commands.js'
import { addStreamCommands } from './stream-commands.js'

/** Adds the commands for metadata, and for the files that it lists. */
export function addMetadataCommands(program: Command, addAction: AddAction): void {
  addStreamCommands(program, addAction)
  addDownloadCommand(program, addAction)
  addBootImageCommands(program, addAction)
  addReleaseCommands(program, addAction)
  addMachineOsCommands(program, addAction)
  addImagesMakeCommand(program, addAction)
}
