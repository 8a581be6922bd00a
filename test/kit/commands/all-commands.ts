import { makeCommandLine, printing, type ToolCommand } from '../../../apps/cli/index.js'
import { Readable } from 'node:stream'

/** A command of the program's own definition. */
export interface KnownCommand {
  /** Words after `ironstage`; none for the program itself. */
  path: string[]
  command: ToolCommand
  /** Whether it does something by itself, and is not only a family of commands. */
  runs: boolean
}

/** The program and every command below it, in the order of its help. */
export function allCommands(): KnownCommand[] {
  const output = { write: () => {} }
  const program = makeCommandLine(
    printing({
      argv: [],
      variables: {},
      stdin: Readable.from([]),
      stdout: output,
      stderr: output,
      stopped: new AbortController().signal,
    }),
    () => Promise.resolve(),
  )
  const below = (command: ToolCommand): KnownCommand[] => [
    {
      path: command.path.slice(1),
      command,
      runs: command.commands.length === 0 || command.registeredArguments.length > 0,
    },
    ...(command.commands as ToolCommand[]).filter((one) => one.name() !== 'coreos-installer').flatMap(below),
  ]
  return below(program)
}
