import { closeSync, fstatSync, ftruncateSync, openSync, writeSync } from 'node:fs'
import type { UserError } from '../../../base/runtime/index.js'
import { defined, isDiskFull, packageVersion } from '../../../base/runtime/index.js'
import { maskedUrl } from '../../../base/bytes/index.js'
import { FORMAT_VERSION, type RecordingExchange, type RecordingHeader } from './recording-exchange.js'
import { recordingError } from '../recording-error.js'

/** Writes a recording line by line. What {@link write} has taken is in the file, also when the process is killed. */
export class RecordingWriter implements Disposable {
  readonly #path: string
  readonly #descriptor: number
  /** Length of the whole lines. */
  #end = 0
  #closed = false

  /**
   * Makes the file and writes its header.
   *
   * @throws UserError `recording-exists` or `recording-unwritable`
   */
  constructor(path: string, header: Pick<RecordingHeader, 'startedAt' | 'upstream'>, { force = false } = {}) {
    this.#path = path
    this.#descriptor = openRecordingFile(path, force)
    try {
      this.#line({
        recording: 'ironstage',
        version: FORMAT_VERSION,
        startedAt: header.startedAt,
        upstream: maskedUrl(header.upstream),
        program: `ironstage ${packageVersion()}`,
      } satisfies RecordingHeader)
    } catch (error) {
      this[Symbol.dispose]()
      throw error
    }
  }

  /** @throws UserError `recording-unwritable`; the file then ends with the line before */
  write(exchange: RecordingExchange): void {
    this.#line(exchange)
  }

  #line(value: object): void {
    if (this.#closed) return
    const bytes = Buffer.from(`${JSON.stringify(value)}\n`)
    try {
      for (let sent = 0; sent < bytes.length;) sent += writeSync(this.#descriptor, bytes, sent)
      this.#end += bytes.length
    } catch (cause) {
      this.#dropHalfLine()
      throw unwritable(this.#path, cause)
    }
  }

  #dropHalfLine(): void {
    try {
      ftruncateSync(this.#descriptor, this.#end)
    } catch {
      // A device has no length.
    }
  }

  [Symbol.dispose](): void {
    if (this.#closed) return
    this.#closed = true
    closeSync(this.#descriptor)
  }
}

function openRecordingFile(path: string, force: boolean): number {
  try {
    // Appended to, so that a file that another program shortens has no hole.
    const descriptor = openSync(path, force ? 'a' : 'ax', 0o600)
    const found = fstatSync(descriptor)
    if (found.isFile()) ftruncateSync(descriptor, 0)
    return descriptor
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'EEXIST') throw unwritable(path, cause)
    throw recordingError('recording-exists', `${path} exists already`, {
      kind: 'usage',
      remedy: 'name another file with -o, or replace this one with --force',
    })
  }
}

const unwritable = (path: string, cause: unknown): UserError =>
  recordingError('recording-unwritable', `the recording ${path} cannot be written`, {
    cause,
    ...defined({ remedy: isDiskFull(cause) ? 'make room on its disk, or name a file on another one' : undefined }),
  })
