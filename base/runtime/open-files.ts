import { readFileSync } from 'node:fs'
import { UserError } from './error.js'

/** A command with one machine has about half as many open. */
const MIN_OPEN_FILES = 64

/**
 * Refuses a limit of open files with which no command can work: the library of the database ends the process by a panic when it
 * meets that limit, which no handler catches. Knows the limit on Linux only.
 *
 * @throws UserError `EMFILE`
 */
export function checkOpenFileLimit(read: () => string = limitsOfProcess): void {
  const [, limit] = /^Max open files +(\d+)/m.exec(read()) ?? []
  if (limit === undefined || Number(limit) >= MIN_OPEN_FILES) return
  throw new UserError('EMFILE', `this process may open ${limit} files, and needs ${MIN_OPEN_FILES}`, {
    remedy: 'raise the limit of open files, as in ulimit -n 4096',
  })
}

function limitsOfProcess(): string {
  try {
    return readFileSync('/proc/self/limits', 'utf8')
  } catch {
    return ''
  }
}
