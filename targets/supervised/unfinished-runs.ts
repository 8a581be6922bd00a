import type { Logger } from '../../base/runtime/index.js'

/** Time for cleanup on a target after the command is stopped, in milliseconds. */
export const CLEANUP_TIMEOUT = 800

/** Warns, in a line each, of programs that continue on a target after this process leaves it. */
export async function warnOfUnfinished(
  { name, unfinished }: { name: string; unfinished: () => Promise<{ program: string; folder: string }[]> },
  logger: Logger,
): Promise<void> {
  for (const { program, folder } of await unfinished().catch(() => []))
    logger('warn', `${program} continues on ${name}; its output and exit code are stored there in ${folder}`)
}
