import { idleProgram, type ToolCommand } from '../../../apps/cli/index.js'

/** A command of the program's own definition. */
export interface KnownCommand {
  /** Words after `ironstage`; none for the program itself. */
  path: string[]
  command: ToolCommand
  /** True if it does something by itself, and is not only a family of commands. */
  runs: boolean
}

/** The program and every command below it, in the order of its help. */
export function allCommands(): KnownCommand[] {
  const below = (command: ToolCommand): KnownCommand[] => [
    {
      path: command.path.slice(1),
      command,
      runs: command.commands.length === 0 || command.registeredArguments.length > 0,
    },
    ...(command.commands as ToolCommand[]).filter((one) => one.name() !== 'coreos-installer').flatMap(below),
  ]
  return below(idleProgram())
}
