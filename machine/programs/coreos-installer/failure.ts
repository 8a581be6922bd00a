/** A failure of coreos-installer; with causes it reads as a chain, outermost first. */
export class Failure extends Error {
  override name = 'Failure'

  constructor(message: string, cause?: unknown) {
    super(message, cause === undefined ? {} : { cause })
  }
}

/** What Rust's standard library prints for an errno. */
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

/** `work`, with what it was doing in front of what went wrong. */
export async function during<T>(doing: string, work: () => Promise<T> | T): Promise<T> {
  try {
    return await work()
  } catch (cause) {
    throw new Failure(doing, cause)
  }
}

/** The error block as recorded: a single cause unnumbered, several numbered from 0. */
export function describe(error: unknown): string {
  const [outermost, ...causes] = messages(error)
  const block = `Error: ${outermost}\n`
  if (causes.length === 0) return block
  const list =
    causes.length === 1
      ? [`    ${causes[0]!.replaceAll('\n', '\n    ')}`]
      : causes.map((cause, index) => `${`${index}`.padStart(5)}: ${cause.replaceAll('\n', '\n       ')}`)
  return `${block}\nCaused by:\n${list.join('\n')}\n`
}

/** A mistake of this program's own code, which must not pass for a failure of the rehearsed one. */
export function isDefect(error: unknown): boolean {
  let e = error
  while (e instanceof Failure && e.cause !== undefined) e = e.cause
  return e instanceof TypeError || e instanceof RangeError || e instanceof ReferenceError
}

function messages(error: unknown): string[] {
  const chain: string[] = []
  for (let e = error; e !== undefined && e !== null; e = e instanceof Error ? e.cause : undefined) {
    const system = e instanceof Error && 'code' in e ? SYSTEM_ERRORS[String(e.code)] : undefined
    chain.push(system ?? (e instanceof Error ? e.message : String(e)))
    // What is behind an errno, or a decoder's sentence, is ours and not the tool's.
    if (!(e instanceof Failure)) break
  }
  return chain
}
