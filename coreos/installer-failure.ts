import { DecodeError, FormatError } from '../base/bytes/index.js'

const SYSTEM_ERRORS: Record<string, string> = {
  ENOENT: 'No such file or directory (os error 2)',
  EIO: 'Input/output error (os error 5)',
  EACCES: 'Permission denied (os error 13)',
  EBUSY: 'Device or resource busy (os error 16)',
  EEXIST: 'File exists (os error 17)',
  ENOTDIR: 'Not a directory (os error 20)',
  EISDIR: 'Is a directory (os error 21)',
  EINVAL: 'Invalid argument (os error 22)',
  ENOSPC: 'No space left on device (os error 28)',
  EROFS: 'Read-only file system (os error 30)',
  ENOTEMPTY: 'Directory not empty (os error 39)',
  ELOOP: 'Too many levels of symbolic links (os error 40)',
}

/** The text of Rust's standard library for an errno; undefined for one that the table lacks. */
export const systemSentence = (code: string): string | undefined => SYSTEM_ERRORS[code]

/** Whether an operating system call failed. */
export const isSystemError = (error: unknown): error is Error & { code: string } =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' && 'syscall' in error

/** Text that coreos-installer prints for an error and its causes. */
export const failureText = (error: unknown): string => failureBlock(messages(error))

/**
 * Text that coreos-installer prints, as recorded: a single cause has no number, several are numbered from 0.
 *
 * @param chain messages, outermost first
 */
export function failureBlock([outermost, ...causes]: readonly string[]): string {
  if (causes.length === 0) return `Error: ${outermost}\n`
  const list =
    causes.length === 1
      ? [`    ${causes[0]!.replaceAll('\n', '\n    ')}`]
      : causes.map((cause, index) => `${`${index}`.padStart(5)}: ${cause.replaceAll('\n', '\n       ')}`)
  return `Error: ${outermost}\n\nCaused by:\n${list.join('\n')}\n`
}

function messages(error: unknown): string[] {
  const chain: string[] = []
  for (let e = error; e !== undefined && e !== null; e = e instanceof Error ? e.cause : undefined) {
    chain.push(isSystemError(e) ? (systemSentence(e.code) ?? e.message) : e instanceof Error ? e.message : String(e))
    // Deeper causes are Node's, which coreos-installer does not have.
    if (!(e instanceof FormatError) || e instanceof DecodeError) break
  }
  return chain
}
