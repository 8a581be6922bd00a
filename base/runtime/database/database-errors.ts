import { dirname } from 'node:path'
import { isDiskFull, UserError } from '../error.js'

/**
 * Runs what opens a database.
 *
 * @throws UserError `damaged-state` for what is no database, or holds what cannot be used; other errors as they are
 */
export function openSound<T>(path: string, open: () => T): T {
  try {
    return open()
  } catch (cause) {
    if (cause instanceof UserError) throw cause
    if (isDamage(cause)) throw damaged(path, cause)
    throw unusableDatabase(path, cause)
  }
}

/** A disk that is full, or cannot be read or written, in a sentence; other errors as they are. */
function unusableDatabase(path: string, cause: unknown): unknown {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : ''
  const [sentence, remedy] = isDiskFull(cause)
    ? [`there is no space left for ${path}`, 'make some']
    : [`${path} cannot be read or written`, 'check the space and the health of the disk that it is on']
  if (!isDiskFull(cause) && !/^SQLITE_(IOERR|CANTOPEN|READONLY|PERM)|^E(IO|ROFS|ACCES|PERM|ISDIR)$/.test(code))
    return cause
  return new UserError('state-folder', sentence, {
    cause,
    remedy: `${remedy}, or name another folder with --state-dir`,
  })
}

const damaged = (path: string, cause: unknown): UserError =>
  new UserError('damaged-state', `the database ${path} is damaged`, {
    cause,
    remedy: `ironstage state check --state-dir ${dirname(path)} says what can be read; ironstage state repair keeps that`,
  })

/** Errors of SQLite that are not about the contents of a file. */
const NO_DAMAGE = /^SQLITE_(BUSY|LOCKED|FULL|IOERR|CANTOPEN|READONLY|PERM|INTERRUPT)/

/** Errors of SQLite about pages, and of parsers about their contents; not those of locks, full disks and missing rights. */
function isDamage(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  if (code.startsWith('SQLITE_')) return !NO_DAMAGE.test(code)
  return error instanceof SyntaxError || error instanceof TypeError || error instanceof RangeError
}
