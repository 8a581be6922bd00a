import type { Logger } from '../../runtime/index.js'

/** How long clearing up may take on a target once the command was told to stop, in milliseconds. */
export const GRACE = 800

/** Says in a line each which programs go on by themselves on a target that is left. */
export async function sayUnfinished(
  { name, unfinished }: { name: string; unfinished: () => Promise<{ program: string; folder: string }[]> },
  logger: Logger,
): Promise<void> {
  for (const { program, folder } of await unfinished().catch(() => []))
    logger('warn', `${program} goes on by itself on ${name}; what it prints and how it ends is kept there in ${folder}`)
}
