import { nearestWord } from '../../../base/runtime/index.js'
import { bashCompletion } from '../description/bash-completion.js'
import { describeCommand, type DescribedCommand } from '../description/command-tree.js'
import { fishCompletion } from '../description/fish-completion.js'
import { zshCompletion } from '../description/zsh-completion.js'
import type { Environment } from '../environment.js'
import type { ToolCommand } from '../tool-command.js'
import { usageError } from '../usage-error.js'

const SHELLS: Readonly<Record<string, (program: DescribedCommand) => string>> = {
  bash: bashCompletion,
  zsh: zshCompletion,
  fish: fishCompletion,
}

/** `ironstage completion`: the script that completes commands and options in a shell. */
export function completion(shell: string, program: ToolCommand, { stdout }: Environment): Promise<number> {
  const scriptOf = Object.hasOwn(SHELLS, shell) ? SHELLS[shell] : undefined
  if (scriptOf === undefined) {
    const known = Object.keys(SHELLS)
    const nearest = nearestWord(shell, known) ?? 'bash'
    throw usageError(
      `there is no completion for ${shell}, only for ${known.join(', ')}`,
      `ironstage completion ${nearest}`,
    )
  }
  stdout.program(scriptOf(describeCommand(program)))
  return Promise.resolve(0)
}
