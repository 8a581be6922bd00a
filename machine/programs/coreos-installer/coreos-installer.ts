import type { Process, Program } from '../program.js'
import { parseInstall, UsageError } from './arguments.js'
import { describe, isDefect } from './failure.js'
import { install } from './install.js'
import { INSTALL_OPTIONS, type OptionSpec } from './options.js'

export const VERSION = '0.27.0'

const USAGE = 'Usage: coreos-installer <COMMAND>\n'
const MORE = "For more information, try '--help'.\n"

/**
 * coreos-installer as far as bare-metal deployment uses it: `--version` and `install`, with the messages, the order of
 * writes and the exit codes of 0.27.0 (0, 1 for failures, 2 for usage).
 */
export const coreosInstaller: Program = async (process) => {
  const [command, ...args] = process.argv.slice(1)
  switch (command) {
    case '--version':
    case '-V':
      process.stdout(`coreos-installer ${VERSION}\n`)
      return 0
    case '--help':
    case '-h':
      process.stdout(`${USAGE}\nCommands:\n  install  Install Fedora CoreOS or RHEL CoreOS\n`)
      return 0
    case 'install':
      return runInstall(process, args)
    case undefined:
      process.stderr(`${USAGE}\n${MORE}`)
      return 2
    default:
      process.stderr(
        command.startsWith('-')
          ? `error: unexpected argument '${command}' found\n\n${USAGE}\n${MORE}`
          : `error: unrecognized subcommand '${command}'\n\n${USAGE}\n${MORE}`,
      )
      return 2
  }
}

async function runInstall(process: Process, args: readonly string[]): Promise<number> {
  try {
    const options = parseInstall(args)
    if (options === 'help') process.stdout(help())
    else await install(process, options)
    return 0
  } catch (error) {
    process.signal.throwIfAborted()
    if (error instanceof UsageError) {
      process.stderr(error.text)
      return 2
    }
    if (isDefect(error)) throw error
    process.stderr(describe(error))
    return 1
  }
}

function help(): string {
  const options: readonly OptionSpec[] = INSTALL_OPTIONS
  const lines = options
    .filter(({ hidden }) => !hidden)
    .map((spec) => {
      const short = spec.short === undefined ? '    ' : `-${spec.short}, `
      return `  ${short}--${spec.long}${spec.kind === 'flag' ? '' : ` <${spec.placeholder}>`}`
    })
  return [
    'Install Fedora CoreOS or RHEL CoreOS\n',
    'Usage: coreos-installer install [OPTIONS] [DEST_DEVICE]\n',
    'Options:',
    ...lines,
    '',
  ].join('\n')
}
