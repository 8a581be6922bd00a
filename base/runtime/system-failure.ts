import { getSystemErrorName } from 'node:util'
import { UserError, type ErrorCode } from './error.js'

interface SystemFailure {
  sentence: string
  remedy: string
}

const OPEN_FILES = 'raise the limit of open files, as in ulimit -n 4096, or ask for fewer machines at once'
const SPACE = 'free some space, or name a folder on another disk; TMPDIR names that of temporary files'
const NAME = 'correct the name, or name another file or folder'

/**
 * Refusals of the operating system and SQLite that are no fault of ironstage: limits, permissions, full and read-only disks. ENOENT
 * and its like are not here: a user's file that is missing has a sentence where it is read, any other is a defect.
 */
const SYSTEM_FAILURES: Readonly<Record<string, SystemFailure>> = {
  EMFILE: { sentence: 'this process may open no more files', remedy: OPEN_FILES },
  ENFILE: { sentence: 'this host can open no more files', remedy: 'end other programs, or raise fs.file-max' },
  ENOSPC: { sentence: 'there is no space left on the disk', remedy: SPACE },
  EDQUOT: { sentence: "this user's quota of the disk is used up", remedy: SPACE },
  EFBIG: { sentence: 'a file may not become so large', remedy: 'raise the limit of sizes, as in ulimit -f unlimited' },
  EROFS: { sentence: 'the file system is read-only', remedy: 'mount it writable, or name a folder on another one' },
  EACCES: { sentence: 'this user may not do that', remedy: 'change the permissions, or run as another user' },
  EPERM: { sentence: 'this user may not do that', remedy: 'change the permissions, or run as another user' },
  ENOMEM: { sentence: 'there is not enough memory', remedy: 'end other programs, or raise the limit of memory' },
  EAGAIN: { sentence: 'this user may start no more programs', remedy: 'raise the limit, as in ulimit -u 4096' },
  ELOOP: { sentence: 'a link leads to itself', remedy: NAME },
  ENAMETOOLONG: { sentence: 'a name is too long', remedy: NAME },
  ENOTDIR: { sentence: 'a part of the path is not a folder', remedy: NAME },
  EISDIR: { sentence: 'a folder stands where a file is needed', remedy: NAME },
  EIO: { sentence: 'the disk cannot be read or written', remedy: 'look for its errors with dmesg' },
  ENXIO: { sentence: 'there is nothing behind a device or a socket', remedy: NAME },
  EBUSY: { sentence: 'a file or a device is in use', remedy: 'end the program that uses it' },
  ETXTBSY: { sentence: 'a program is being written and cannot be run', remedy: 'try again' },
  SQLITE_FULL: { sentence: 'there is no space left for a database', remedy: SPACE },
  SQLITE_IOERR: { sentence: 'a database cannot be read or written', remedy: 'look for errors of its disk with dmesg' },
  SQLITE_CANTOPEN: { sentence: 'a database cannot be opened', remedy: OPEN_FILES },
  SQLITE_READONLY: { sentence: 'a database cannot be written', remedy: 'change its permissions' },
  SQLITE_NOMEM: { sentence: 'there is not enough memory for a database', remedy: 'end other programs' },
  ERR_DLOPEN_FAILED: { sentence: 'a library cannot be loaded', remedy: OPEN_FILES },
}

/**
 * The failure that the operating system is the cause of, in words; undefined for any other error, which is a defect. The most
 * specific error of the chain counts.
 */
export function systemFailure(error: unknown): UserError | undefined {
  for (let e = error; e instanceof Error; e = e.cause) {
    const code = codeOf(e)
    const failure = code === undefined ? undefined : SYSTEM_FAILURES[code]
    if (failure)
      return new UserError(code as ErrorCode, failure.sentence + placeOf(e), { cause: error, remedy: failure.remedy })
  }
  return undefined
}

function codeOf(error: Error): string | undefined {
  const code = 'code' in error && error.code !== '' ? String(error.code) : nativeCodeOf(error)
  if (code === undefined) return undefined
  if (Object.hasOwn(SYSTEM_FAILURES, code)) return code
  // SQLITE_IOERR_WRITE and its like say what was being done.
  const [, general] = /^(SQLITE_[A-Z]+)_/.exec(code) ?? []
  return general !== undefined && Object.hasOwn(SYSTEM_FAILURES, general) ? general : undefined
}

/** Libraries in Rust have only its text: `Too many open files (os error 24)`. */
function nativeCodeOf({ message }: Error): string | undefined {
  const [, number] = /\(os error (\d+)\)/.exec(message) ?? []
  return number === undefined ? undefined : getSystemErrorName(-Number(number))
}

const placeOf = (error: Error): string => ('path' in error && typeof error.path === 'string' ? `: ${error.path}` : '')
