import { CommanderError } from 'commander'
import {
  checkOpenFileLimit,
  collectSooner,
  keepGarbageSmall,
  packageVersion,
  sweepTemporaryFolders,
} from '../../base/runtime/index.js'
import { groupCommands } from './help-groups.js'
import { printing, Stopped, type Environment, type RawEnvironment } from './environment.js'
import { reportFailure } from './failure.js'
import { addLiveCommands } from './installer/live-commands.js'
import type { AddAction } from './command-action.js'
import { addTableCommands, type PerformWork } from './table-commands.js'
import { ToolCommand } from './tool-command.js'

const COREOS_INSTALLER = 'coreos-installer'

/** Runs the command that the arguments name; gives its exit code: 0, 1 for a failure, 2 for wrong usage. */
export async function runCommandLine(raw: RawEnvironment): Promise<number> {
  const environment = printing(raw)
  const { argv, stderr } = environment
  let code = 0
  const perform: PerformWork = async (work) => {
    environment.begin?.()
    checkOpenFileLimit()
    await sweepTemporaryFolders()
    environment.stopped.throwIfAborted()
    // `up` lets it grow once it serves. The code is loaded by now: V8 takes none that it compiled with other flags.
    const [command = ''] = argv
    if (['up', 'run', 'fleet'].includes(command) || argv.some((word) => /^--target(=|$)/.test(word))) keepGarbageSmall()
    if (command === 'run') collectSooner(20)
    if (command === 'fleet') collectSooner(33)
    code = await work()
  }
  try {
    // coreos-installer parses its own arguments, with messages of its own about wrong ones.
    if (argv[0] === COREOS_INSTALLER) {
      const { coreosInstallerCommand: coreosInstaller } = await import('./installer/installer-command.js')
      await perform(() => coreosInstaller(argv.slice(1), environment))
    } else await makeCommandLine(environment, perform).parseAsync(argv, { from: 'user' })
    return code
  } catch (error) {
    if (environment.stopped.aborted) return afterStop(error, environment)
    // Commander ends help and the version by an error too.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
    return reportFailure(error, stderr)
  }
}

/** All commands with their options; {@link PerformWork} is called with the work of the one that the arguments name. */
export function makeCommandLine(environment: Environment, perform: PerformWork): ToolCommand {
  const { stdout, stderr } = environment
  const width = () => helpWidth(environment)
  const program = new ToolCommand('ironstage')
    .description(
      'Rehearse bare-metal CoreOS deployments: a mock Ironic, simulated machines, and the install_coreos step.',
    )
    .version(packageVersion(), '-V, --version', 'print the version')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => stdout.program(text),
      writeErr: (text) => stderr.program(text),
      getOutHelpWidth: width,
      getErrHelpWidth: width,
    })
  const addAction: AddAction = (command, load) => {
    command.action(async () => {
      const action = await load()
      await perform(() =>
        action(command.processedArgs as (string | string[] | undefined)[], command.opts(), environment),
      )
    })
  }
  // There --version is the version of what is made, not that of ironstage.
  if (['images make', 'release write'].includes(environment.argv.slice(0, 2).join(' ')))
    program.enablePositionalOptions()
  // A command with others below it would take their options.
  if (environment.argv[0] === 'run') program.enablePositionalOptions()
  addTableCommands(program, environment, perform)
  addLiveCommands(program, addAction)
  program
    .command(COREOS_INSTALLER)
    .description(
      "run the simulated coreos-installer on a plain file, with coreos-installer's arguments: install disk.img " +
        '--image-file ... (before them: --sector-size 512|4096)',
    )
  groupCommands(program)
  return program
}

/** Columns of help: the shell's COLUMNS, else the terminal's width, else 80. */
function helpWidth({ stdout, variables }: Environment): number {
  const columns = Number(variables['COLUMNS'])
  if (Number.isInteger(columns) && columns > 0) return Math.max(columns, 40)
  return Math.max((stdout.isTTY ? stdout.columns : undefined) ?? 80, 40)
}

/** The exit code after a stop; a failure that the stop itself caused is not reported. */
function afterStop(error: unknown, { stopped, stderr }: Environment): number {
  const { reason } = stopped as { reason: unknown }
  let cause = error
  while (cause instanceof Error && cause !== reason && cause.name !== 'AbortError') cause = cause.cause
  if (!(cause instanceof Error)) reportFailure(error, stderr)
  return reason instanceof Stopped ? reason.exitCode : 1
}
