import { withoutPasswords } from '../../base/bytes/index.js'
import { knownInAllCopies, unlessAborted, UserError } from '../../base/runtime/index.js'
import type { TargetCommand, Executor, CommandExit, OutputChunk, RunningCommand } from '../../targets/index.js'
import { LineSplitter } from './line-splitter.js'

/** Options of {@link runCommand}. */
export interface RunOptions extends Omit<TargetCommand, 'argv'> {
  /** Exit codes that count as success; only 0 by default. */
  accept?: readonly number[]
  /**
   * Ends the wait, which then rejects with the signal's reason. The command continues: a restarted agent attaches to it
   * again, and half an installation would be of no use.
   */
  signal?: AbortSignal
  /** Called with each line, without its end; a carriage return also ends a line (progress on a terminal). */
  onLine?: (line: string, stream: OutputChunk['stream']) => void
}

/** Output and exit of an ended command. */
export interface FinishedCommand {
  stdout: string
  stderr: string
  exit: CommandExit
}

/**
 * A command failed. Its cause has the first line that the command printed.
 *
 * @example
 * import { defineStep } from 'ironstage'
 * import { CommandFailed, runCommand } from 'ironstage/steps'
 *
 * export const touch = defineStep({
 *   name: 'touch',
 *   interface: 'deploy',
 *   on: ['deploy'],
 *   run: async ({ target, node, signal }) => {
 *     try {
 *       await runCommand(target.executor, ['touch', '/run/touched'], { effect: 'writes', signal })
 *     } catch (error) {
 *       if (error instanceof CommandFailed) console.log(error.argv, error.finished.stderr)
 *       throw error
 *     }
 *   },
 * })
 */
export class CommandFailed extends Error {
  override name = 'CommandFailed'
  constructor(
    readonly argv: readonly string[],
    readonly finished: FinishedCommand,
  ) {
    const reason = firstLine(finished)
    super(
      `running ${printCommand(argv)}: ${describeExit(finished.exit)}`,
      reason === undefined ? {} : { cause: new Error(reason) },
    )
  }
}

knownInAllCopies(CommandFailed, 'CommandFailed')

/**
 * Runs a command to its end and returns its output.
 *
 * @throws CommandFailed when it does not end with an accepted exit code
 *
 * @example
 * import { defineStep } from 'ironstage'
 * import { runCommand } from 'ironstage/steps'
 *
 * export const touch = defineStep({
 *   name: 'touch',
 *   interface: 'deploy',
 *   on: ['deploy'],
 *   run: async ({ target, node, signal }) => {
 *     const { stdout } = await runCommand(target.executor, ['lsblk', '--json'], { effect: 'reads', signal })
 *     return stdout.length
 *   },
 * })
 */
export async function runCommand(
  executor: Executor,
  argv: TargetCommand['argv'],
  options: RunOptions,
): Promise<FinishedCommand> {
  const finished = await runToEnd(executor, argv, options)
  const { exit } = finished
  if (exit.kind === 'exited' && (options.accept ?? [0]).includes(exit.code)) return finished
  throw new CommandFailed(argv, finished)
}

/** Like {@link runCommand}, for callers that check the exit themselves. */
export async function runToEnd(
  executor: Executor,
  argv: TargetCommand['argv'],
  options: RunOptions,
): Promise<FinishedCommand> {
  const { accept: _, signal, onLine, ...more } = options
  signal?.throwIfAborted()
  const run = await executor.start({ argv, ...more })
  const printed = (!onLine && run.output.whole?.()) || collectOutput(run, argv[0], onLine)
  const ended = printed.then(async (output) => ({ output, exit: await run.exit }))
  const { output, exit } = await unlessAborted(ended, signal)
  return { stdout: decodeChunks(output, 'stdout'), stderr: decodeChunks(output, 'stderr'), exit }
}

/** Largest output of a program, which is held in memory, in bytes. */
const MAX_PROGRAM_OUTPUT_BYTES = 32 * 2 ** 20

async function collectOutput(
  run: RunningCommand,
  program: string,
  onLine: RunOptions['onLine'],
): Promise<readonly OutputChunk[]> {
  const splitters = {
    stdout: new LineSplitter((line) => onLine?.(line, 'stdout')),
    stderr: new LineSplitter((line) => onLine?.(line, 'stderr')),
  }
  const output: OutputChunk[] = []
  let length = 0
  for await (const chunk of run.output) {
    const { stream, bytes } = chunk
    length += bytes.length
    if (length > MAX_PROGRAM_OUTPUT_BYTES) {
      await run.cancel()
      throw new UserError(
        'too-much-output',
        `${program} printed more than 32 MiB${run.target ? ` on ${run.target}` : ''}`,
        {
          remedy: 'it was ended; check what it prints there',
        },
      )
    }
    output.push(chunk)
    if (onLine) splitters[stream].push(bytes)
  }
  splitters.stdout.end()
  splitters.stderr.end()
  return output
}

const decodeChunks = (output: readonly OutputChunk[], wanted: OutputChunk['stream']): string =>
  Buffer.concat(output.filter(({ stream }) => stream === wanted).map(({ bytes }) => bytes)).toString('utf8')

export function describeExit(exit: CommandExit): string {
  switch (exit.kind) {
    case 'exited':
      return `it ended with exit code ${exit.code}`
    case 'signalled':
      return `it was ended by ${exit.signal}`
    case 'unknown':
      return `its result is unknown (${exit.why})`
  }
}

/** The first line of a program usually names the error; consequences and usage texts follow. */
function firstLine({ stdout, stderr }: FinishedCommand): string | undefined {
  for (const printed of [stderr, stdout])
    for (const line of printed.split(/\r\n|\r|\n/)) if (line.trim() !== '') return line.trim()
  return undefined
}

/** Text of a command line for messages: quoted for a shell, passwords in URLs masked. */
export const printCommand = (argv: readonly string[]): string =>
  argv
    .map(withoutPasswords)
    .map((arg) => (/^[\w@%+=:,./*-]+$/.test(arg) ? arg : `'${arg.replaceAll("'", `'\\''`)}'`))
    .join(' ')
