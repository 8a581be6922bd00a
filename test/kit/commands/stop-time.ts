import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'

/** Milliseconds after a signal in which a command must end, on an idle machine. */
export const STOP_TIME = 2000

/** Where the kernel does not say how long programs have waited for a processor, in milliseconds. */
const SLACK = 3000

export interface Ending {
  code: number | null
  signal: NodeJS.Signals | null
  /** Milliseconds of wall time from the signal on. */
  took: number
  /** {@link took} without the time in which programs of this machine waited for a processor. */
  unhindered: number
}

/** Sends a signal to a process, or does what `stop` does, and waits for its end. */
export async function stopped(child: ChildProcess, stop: NodeJS.Signals | (() => unknown)): Promise<Ending> {
  const closed = once(child, 'close')
  const from = performance.now()
  const waitedBefore = waited()
  if (typeof stop === 'function') stop()
  else child.kill(stop)
  await closed
  const took = performance.now() - from
  const waitedAfter = waited()
  const hindered = waitedBefore === null || waitedAfter === null ? SLACK : waitedAfter - waitedBefore
  return { code: child.exitCode, signal: child.signalCode, took, unhindered: took - hindered }
}

/** Milliseconds in which some program waited for a processor since this machine started. */
function waited(): number | null {
  try {
    const [, total] = /^some .*total=(\d+)$/m.exec(readFileSync('/proc/pressure/cpu', 'utf8'))!
    return Number(total) / 1000
  } catch {
    return null
  }
}
