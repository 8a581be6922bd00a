import { withoutPasswords } from '../../bytes/index.js'
import { unlessAborted, UserError } from '../../runtime/index.js'
import type { Command, Executor, Exit, OutputChunk, Run } from '../../targets/index.js'
import { LineSplitter } from './line-splitter.js'

/** Options of {@link runCommand}. */
export interface RunOptions extends Omit<Command, 'argv'> {
  /** Exit codes that are no failure. Default only 0. */
  accept?: readonly number[]
  /**
   * Ends the wait, which then rejects with the signal's reason. The command goes on: an agent that stops comes back to
   * what it left running, and half an installation helps nobody.
   */
  signal?: AbortSignal
  /** Every line as it comes, without its end; a carriage return ends one too (progress on a terminal). */
  onLine?: (line: string, stream: OutputChunk['stream']) => void
}

/** A command that has ended, with everything that it printed. */
export interface Finished {
  stdout: string
  stderr: string
  exit: Exit
}

/**
 * A command that did not end as it should. Its cause is what the command itself said.
 *
 * @example
 * import { defineStep, CommandFailed, runCommand } from 'ironstage/steps'
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
    readonly finished: Finished,
  ) {
    const said = firstWords(finished)
    super(`running ${shown(argv)}: ${ending(finished.exit)}`, said === undefined ? {} : { cause: new Error(said) })
  }
}

/**
 * Runs a command to its end and gives what it printed.
 *
 * @throws CommandFailed when it ended in any other way than with an accepted exit code
 *
 * @example
 * import { defineStep, runCommand } from 'ironstage/steps'
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
export async function runCommand(executor: Executor, argv: Command['argv'], options: RunOptions): Promise<Finished> {
  const finished = await finish(executor, argv, options)
  const { exit } = finished
  if (exit.kind === 'exited' && (options.accept ?? [0]).includes(exit.code)) return finished
  throw new CommandFailed(argv, finished)
}

/** As {@link runCommand}, for a caller that judges the end itself. */
export async function finish(executor: Executor, argv: Command['argv'], options: RunOptions): Promise<Finished> {
  const { accept: _, signal, onLine, ...more } = options
  signal?.throwIfAborted()
  const run = await executor.start({ argv, ...more })
  const printed = { stdout: [] as Uint8Array[], stderr: [] as Uint8Array[] }
  const ended = follow(run, printed, argv[0], onLine).then(() => run.exit)
  const exit = await unlessAborted(ended, signal)
  return { stdout: text(printed.stdout), stderr: text(printed.stderr), exit }
}

/** What a program prints is kept in memory to its end, in bytes. */
const MOST_OUTPUT = 32 * 2 ** 20

async function follow(
  run: Run,
  printed: Record<OutputChunk['stream'], Uint8Array[]>,
  program: string,
  onLine: RunOptions['onLine'],
): Promise<void> {
  const splitters = {
    stdout: new LineSplitter((line) => onLine?.(line, 'stdout')),
    stderr: new LineSplitter((line) => onLine?.(line, 'stderr')),
  }
  let length = 0
  for await (const { stream, bytes } of run.output) {
    length += bytes.length
    if (length > MOST_OUTPUT) {
      await run.cancel()
      throw new UserError(
        'too-much-output',
        `${program} printed more than 32 MiB${run.target ? ` on ${run.target}` : ''}`,
        {
          remedy: 'it was ended; see what it prints there',
        },
      )
    }
    printed[stream].push(bytes)
    if (onLine) splitters[stream].push(bytes)
  }
  splitters.stdout.end()
  splitters.stderr.end()
}

const text = (chunks: Uint8Array[]) => Buffer.concat(chunks).toString('utf8')

export function ending(exit: Exit): string {
  switch (exit.kind) {
    case 'exited':
      return `it ended with exit code ${exit.code}`
    case 'signalled':
      return `it was ended by ${exit.signal}`
    case 'unknown':
      return `nobody knows how it ended (${exit.why})`
  }
}

/** What a program says first is mostly what went wrong; what follows are consequences and usage texts. */
function firstWords({ stdout, stderr }: Finished): string | undefined {
  for (const printed of [stderr, stdout])
    for (const line of printed.split(/\r\n|\r|\n/)) if (line.trim() !== '') return line.trim()
  return undefined
}

/** A command line for people: quoted where a shell would need it, passwords in URLs masked. */
export const shown = (argv: readonly string[]): string =>
  argv
    .map(withoutPasswords)
    .map((arg) => (/^[\w@%+=:,./*-]+$/.test(arg) ? arg : `'${arg.replaceAll("'", `'\\''`)}'`))
    .join(' ')
