import type Database from 'libsql'
import { withClockHeld, type Clock } from './clock.js'
import { openSqlite } from './sqlite.js'
import { systemClock } from './system-clock.js'

/**
 * Takes a lock that other processes see too, if it can be had now: `shared` by any number, `exclusive` by one alone. It is
 * SQLite's, held by the kernel for the process, so none is left behind by one that was killed. May be let go of twice.
 */
export async function tryLock(path: string, kind: 'shared' | 'exclusive'): Promise<Disposable | undefined> {
  const lock = openSqlite(path, { timeout: 0 })
  try {
    lock.exec(kind === 'exclusive' ? 'BEGIN EXCLUSIVE' : 'BEGIN')
    // A transaction takes its shared lock with its first read.
    if (kind === 'shared') lock.exec('SELECT count(*) FROM sqlite_master')
  } catch (error) {
    lock.close()
    if (error instanceof Error && 'code' in error && String(error.code).startsWith('SQLITE_BUSY')) return undefined
    throw error
  }
  return { [Symbol.dispose]: () => release(lock) }
}

function release(lock: Database.Database): void {
  if (!lock.open) return
  lock.exec('ROLLBACK')
  lock.close()
}

/** Between two looks whether another process has let go, in milliseconds. */
const LOCK_POLL_INTERVAL = 100
/** Other processes live in wall time, also when the clock of this one is virtual. */
const wall = systemClock()

/** Waits for a lock. Rejects with the signal's reason. */
export async function takeLock(
  path: string,
  kind: 'shared' | 'exclusive',
  { clock, signal, onWait }: { clock: Clock; signal: AbortSignal; onWait?: () => void },
): Promise<Disposable> {
  for (let waited = false; ; waited = true) {
    signal.throwIfAborted()
    const lock = await tryLock(path, kind)
    if (lock) return lock
    if (!waited) onWait?.()
    await withClockHeld(clock, `waiting for another process to be done with ${path}`, () =>
      wall.sleep(LOCK_POLL_INTERVAL, { signal }),
    )
  }
}
