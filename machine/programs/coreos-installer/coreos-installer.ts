import { defined } from '../../../base/runtime/index.js'
import type { MachineProgram } from '../machine-program.js'
import { parseInstall } from './command-line/parse-install.js'
import { MORE, UsageError } from './command-line/clap.js'
import { formatFailure, Failure, isDefect } from './installer-error.js'
import { DOWNLOAD_HELP, INSTALL_HELP, INSTALL_SUMMARY, PROGRAM_HELP } from './command-line/help.js'
import { machineHost, type InstallerProcess } from './installer-host.js'
import { runInstall } from './install.js'
import { listStream } from './source/list-stream.js'
import { mostSimilar } from './command-line/similar.js'

const INSTALLER_VERSION = '0.27.0'

const INSTALLER_COMMANDS = ['install', 'download', 'list-stream', 'iso', 'pxe', 'pack']
const USAGE = 'Usage: coreos-installer\n       coreos-installer <COMMAND>\n'

/**
 * coreos-installer as far as bare-metal deployment uses it: `runInstall` and `list-stream`, with the messages, the order of
 * writes and the exit codes of 0.27.0 (0, 1 for failures, 2 for usage).
 */
export const coreosInstallerProgram: MachineProgram = (process) =>
  runInstaller(withHost(process, machineHost(process.inside, process.clock)))

function withHost<T extends Omit<InstallerProcess, 'host'>>(
  process: T,
  host: InstallerProcess['host'],
): InstallerProcess {
  const { argv, tty, clock, random, pace, signal, downloads } = process
  const stdout = (text: string | Uint8Array) => process.stdout(text)
  const stderr = (text: string | Uint8Array) => process.stderr(text)
  return { argv, tty, clock, random, pace, signal, stdout, stderr, host, ...defined({ downloads }) }
}

/** Runs coreos-installer on any host; resolves to the exit code. Rejects with the signal's reason, and for defects. */
export async function runInstaller(process: InstallerProcess): Promise<number> {
  try {
    return await runSubcommand(process)
  } catch (error) {
    process.signal.throwIfAborted()
    if (error instanceof UsageError) {
      process.stderr(error.text)
      return 2
    }
    if (isDefect(error)) throw error
    process.stderr(formatFailure(error))
    return 1
  }
}

async function runSubcommand(process: InstallerProcess): Promise<number> {
  const [name, ...args] = process.argv.slice(1)
  switch (name) {
    case undefined:
      process.stderr(PROGRAM_HELP)
      return 2
    case '--version':
    case '-V':
      process.stdout(`coreos-installer ${INSTALLER_VERSION}\n`)
      return 0
    case '--help':
    case '-h':
      process.stdout(PROGRAM_HELP)
      return 0
    case 'install': {
      const options = parseInstall(args)
      if (options === 'help') process.stdout(INSTALL_HELP)
      else if (options === 'summary') process.stdout(INSTALL_SUMMARY)
      else await runInstall(process, options)
      return 0
    }
    case 'list-stream':
      await listStream(process, args)
      return 0
    case 'download':
      if (args.includes('--help') || args.includes('-h')) {
        process.stdout(DOWNLOAD_HELP)
        return 0
      }
      throw new Failure('download is not simulated; install takes --image-url and --stream')
    case 'iso':
    case 'pxe':
    case 'pack':
      throw new Failure(`${name} is not simulated; the image service embeds configs into live images`)
    default:
      throw name.startsWith('-') ? unexpectedArgument(name) : unrecognized(name)
  }
}

function unexpectedArgument(arg: string): UsageError {
  const name = arg.replace(/=.*$/s, '')
  const near = arg.startsWith('--') ? mostSimilar(name.slice(2), ['help', 'version']).at(-1) : undefined
  const found = `error: unexpected argument '${arg.startsWith('--') ? name : arg.slice(0, 2)}' found\n\n`
  if (near === undefined) return new UsageError(`${found}${USAGE}\n${MORE}`)
  return new UsageError(
    `${found}  tip: a similar argument exists: '--${near}'\n\nUsage: coreos-installer --${near} <COMMAND>\n\n${MORE}`,
  )
}

function unrecognized(name: string): UsageError {
  const near = mostSimilar(name, INSTALLER_COMMANDS).map((one) => `'${one}'`)
  const tip =
    near.length === 0
      ? ''
      : near.length === 1
        ? `  tip: a similar subcommand exists: ${near[0]}\n\n`
        : `  tip: some similar subcommands exist: ${near.join(', ')}\n\n`
  return new UsageError(`error: unrecognized subcommand '${name}'\n\n${tip}${USAGE}\n${MORE}`)
}
