import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { startTimer, type PassedTime } from '../passed-time.js'

/** Milliseconds after a signal in which a command must end, on an idle machine. */
export const STOP_TIME = 2000

/** The end of a process, with the time from the signal on. */
export interface Ending extends PassedTime {
  code: number | null
  signal: NodeJS.Signals | null
}

/** Sends a signal to a process, or does what `stop` does, and waits for its end. */
export async function stopped(child: ChildProcess, stop: NodeJS.Signals | (() => unknown)): Promise<Ending> {
  const closed = once(child, 'close')
  const passed = startTimer()
  if (typeof stop === 'function') stop()
  else child.kill(stop)
  await closed
  return { code: child.exitCode, signal: child.signalCode, ...passed() }
}
