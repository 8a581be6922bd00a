import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'

/**
 * Failure of a program that could not be started for want of open files: it has no streams, and Node says why only later.
 * Rejects with that error; undefined for any other program, whose events are to be listened to at once.
 */
export function startFailure(child: ChildProcess): Promise<never> | undefined {
  const streams: readonly unknown[] = [child.stdin, child.stdout, child.stderr]
  if (!streams.includes(undefined)) return undefined
  return once(child, 'error').then(([error]) => {
    throw error
  })
}
