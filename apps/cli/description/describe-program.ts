import { Readable } from 'node:stream'
import { makeCommandLine } from '../cli-program.js'
import { printing } from '../environment.js'
import type { ToolCommand } from '../tool-command.js'
import { describeCommand, type DescribedCommand } from './command-tree.js'

/** The program with all its commands, which does nothing. */
export function idleProgram(): ToolCommand {
  const nowhere = { write: () => {} }
  const environment = printing({
    argv: [],
    variables: {},
    stdin: Readable.from([]),
    stdout: nowhere,
    stderr: nowhere,
    stopped: new AbortController().signal,
  })
  return makeCommandLine(environment, () => Promise.resolve())
}

/** The description of the program and of all its commands. */
export const describeProgram = (): DescribedCommand => describeCommand(idleProgram())
