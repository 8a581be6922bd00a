import { UserError } from '../runtime/index.js'

/**
 * What coreos-installer would fail with, in its words; with causes it reads as a chain, outermost first.
 *
 * @see failureText
 */
export class LiveImageError extends UserError {
  override name = 'LiveImageError'

  constructor(message: string, cause?: unknown) {
    super('live-image', message, cause === undefined ? {} : { cause })
  }
}

/** `work`, with what it was doing in front of what went wrong, as {@link LiveImageError}. */
export async function doing<T>(what: string, work: () => Promise<T> | T): Promise<T> {
  try {
    return await work()
  } catch (cause) {
    throw new LiveImageError(what, cause)
  }
}

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

/** What Rust's standard library prints for an errno; undefined for one that is not known here. */
export const systemSentence = (code: string): string | undefined => SYSTEM_ERRORS[code]

/** Whether an operating system call failed, which is nobody's defect. */
export const isSystemError = (error: unknown): error is Error & { code: string } =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' && 'syscall' in error

export const failureText = (error: unknown): string => failureBlock(messages(error))

/**
 * The block that coreos-installer prints, as recorded: a single cause unnumbered, several numbered from 0.
 *
 * @param chain outermost first
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
    // What is behind an errno, or a decoder's sentence, is ours and not the tool's.
    if (!(e instanceof LiveImageError)) break
  }
  return chain
}
