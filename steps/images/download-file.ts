import { createHash, type Hash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { open, stat, type FileHandle } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import {
  contentRange,
  FetchFailure,
  type FileAnswer,
  type HttpClient,
  maskedUrl,
  unsatisfiedSize,
} from '../../base/bytes/index.js'
import { defined, withClockHeld, seconds, UserError, type Clock, type Logger } from '../../base/runtime/index.js'
import { KIND_BYTES, refusePages } from './image-kind.js'
import { ERRORS } from '../errors.js'

/** Headers that identify a version of a file on its server. */
export interface DownloadValidators {
  etag: string | null
  lastModified: string | null
}

export const isKnownBy = ({ etag, lastModified }: DownloadValidators): boolean => etag !== null || lastModified !== null

export interface DownloadOptions {
  http: HttpClient
  url: string
  /** Path of the file; a download continues an existing file when `partial` has its version. */
  path: string
  partial: DownloadValidators | null
  /** Version that is already cached; it is not fetched again when the server still has it. */
  atHand: DownloadValidators | null
  /** Attempts in a row without progress; 5 by default. */
  attempts?: number
  /** Largest file, in bytes, also for a server that sends no length. */
  largest?: number
  clock: Clock
  logger: Logger
  signal: AbortSignal
  /** Called before the first byte is written, so that a later process can continue. */
  onVersion?: (validators: DownloadValidators) => Promise<void>
  onProgress?: (received: number, total: number | null) => void
}

export type Downloaded =
  { kind: 'unchanged' } | { kind: 'fetched'; size: number; sha256: string; validators: DownloadValidators }

/** Unexpected answer of a server; another attempt may succeed. */
class WrongAnswer extends Error {
  override name = 'WrongAnswer'
}

/** Pauses between attempts, in milliseconds; the last one repeats. */
const DOWNLOAD_RETRY_DELAYS = [seconds(1), seconds(2), seconds(5), seconds(10)]
/** Bytes that an attempt must bring to count as progress. */
const MIN_PROGRESS_BYTES = 16 * 1024
const TRANSIENT = new Set([408, 425, 429, 500, 502, 503, 504])

/**
 * Fetches a file. After a lost connection it continues by Range, if the server still has the same version.
 *
 * @throws UserError: image-refused, image-unreachable, image-is-page, image-too-large; the signal's reason
 */
export async function downloadFile(options: DownloadOptions): Promise<Downloaded> {
  const { url, attempts = 5, clock, logger, signal } = options
  await using file = await PartialFile.open(options)
  let best = file.length
  for (let failures = 0; ;) {
    try {
      return await attempt(options, file)
    } catch (error) {
      signal.throwIfAborted()
      if (!(error instanceof FetchFailure || error instanceof WrongAnswer)) throw error
      if (error instanceof FetchFailure && !error.transient) throw imageUnreachableError(url, file, error)
      // Only real progress resets the count: a server that sends a few bytes at a time would never end.
      if (file.length - best >= MIN_PROGRESS_BYTES) failures = 0
      best = Math.max(best, file.length)
      if (++failures === attempts) throw imageUnreachableError(url, file, error)
      logger('warn', `fetching ${maskedUrl(url)}: ${error.message}; trying again`, { received: file.length })
      await clock.sleep(DOWNLOAD_RETRY_DELAYS[Math.min(failures, DOWNLOAD_RETRY_DELAYS.length) - 1]!, { signal })
    }
  }
}

async function attempt(options: DownloadOptions, file: PartialFile): Promise<Downloaded> {
  const { http, url, signal, atHand } = options
  const headers = { ...file.rangeHeaders(), ...(file.length > 0 ? {} : unless(atHand)) }
  const answer = await http.get({ url, headers, signal })
  try {
    const { status, headers: answered } = answer
    if (status === 304 && atHand) return { kind: 'unchanged' }
    if (status === 416) {
      // The partial file is complete, or of another version.
      if (unsatisfiedSize(answered['content-range']) === file.length) return await file.done()
      await file.restart()
      throw new WrongAnswer('the server has another version of it now')
    }
    if (TRANSIENT.has(status)) throw new WrongAnswer(`the server answers with HTTP status ${status}`)
    if (status !== 200 && status !== 206) throw imageRefusedError(url, status)
    const total = await begin(options, file, answer)
    await body(options, file, answer, total)
    if (total !== null && file.length !== total)
      throw new WrongAnswer(
        `it ended after ${file.length} of ${total} bytes, which is the length that the server announced`,
      )
    return await file.done()
  } finally {
    await answer.close()
  }
}

/** Positions the file for the answer; returns the length of the whole. */
async function begin(
  { onVersion }: DownloadOptions,
  file: PartialFile,
  { status, headers }: FileAnswer,
): Promise<number | null> {
  if (status === 206) {
    const part = contentRange(headers['content-range'])
    if (part?.first === file.length) return part.size
    await file.restart()
    throw new WrongAnswer('the server sent another range than the requested one')
  }
  await file.restart()
  const validators = { etag: strong(headers['etag']), lastModified: headers['last-modified'] ?? null }
  file.validators = validators
  await onVersion?.(validators)
  const length = headers['content-length']
  return length === undefined ? null : Number(length)
}

async function body(
  { url, largest = Infinity, onProgress }: DownloadOptions,
  file: PartialFile,
  { headers, body: parts }: FileAnswer,
  total: number | null,
): Promise<void> {
  if ((total ?? 0) > largest) throw tooLarge(url, largest)
  let head: Buffer | null = file.length === 0 ? Buffer.alloc(0) : null
  const look = () => {
    if (head) refusePages(head, headers['content-type'], maskedUrl(url))
    head = null
  }
  for await (const part of parts) {
    if (head) {
      head = Buffer.concat([head, part.subarray(0, KIND_BYTES)])
      if (head.length >= KIND_BYTES) look()
    }
    if (file.length + part.length > largest) throw tooLarge(url, largest)
    await file.append(part)
    onProgress?.(file.length, total)
  }
  look()
}

/** The ETag if it is strong: only then all bytes are the same (RFC 9110, 8.8.1). */
const strong = (etag: string | undefined): string | null => (etag === undefined || etag.startsWith('W/') ? null : etag)

function unless(validators: DownloadValidators | null): Record<string, string> {
  if (!validators) return {}
  const { etag, lastModified } = validators
  return defined({ 'if-none-match': etag ?? undefined, 'if-modified-since': lastModified ?? undefined })
}

/** A growing file with the digest of its bytes. */
class PartialFile implements AsyncDisposable {
  validators: DownloadValidators | null
  #length = 0
  #hash: Hash = createHash('sha256')
  readonly #handle: FileHandle
  readonly #clock: Clock
  readonly #path: string

  private constructor(handle: FileHandle, { path, clock, partial }: DownloadOptions) {
    this.#handle = handle
    this.#clock = clock
    this.#path = path
    this.validators = partial
  }

  static async open(options: DownloadOptions): Promise<PartialFile> {
    const { path, partial, clock, signal } = options
    const goesOn = partial !== null && isKnownBy(partial)
    return withClockHeld(clock, `opening ${path}`, async () => {
      const size = goesOn
        ? await stat(path).then(
            ({ size: bytes }) => bytes,
            () => 0,
          )
        : 0
      const file = new PartialFile(await open(path, size > 0 ? 'r+' : 'w', 0o600), options)
      if (size > 0) {
        await pipeline(createReadStream(path, { end: size - 1 }), file.#hash, { signal, end: false })
        file.#length = size
      }
      return file
    })
  }

  get length(): number {
    return this.#length
  }

  rangeHeaders(): Record<string, string> {
    const { etag, lastModified } = this.validators ?? { etag: null, lastModified: null }
    const version = etag ?? lastModified
    return this.#length === 0 || version === null ? {} : { range: `bytes=${this.#length}-`, 'if-range': version }
  }

  async restart(): Promise<void> {
    this.#length = 0
    this.#hash = createHash('sha256')
    await withClockHeld(this.#clock, `emptying ${this.#path}`, () => this.#handle.truncate(0))
  }

  async append(bytes: Uint8Array): Promise<void> {
    await withClockHeld(this.#clock, `writing ${this.#path}`, async () => {
      for (let at = 0; at < bytes.length;) {
        const { bytesWritten } = await this.#handle.write(bytes, at, bytes.length - at, this.#length + at)
        at += bytesWritten
      }
    })
    this.#hash.update(bytes)
    this.#length += bytes.length
  }

  async done(): Promise<Downloaded> {
    await withClockHeld(this.#clock, `writing ${this.#path}`, () => this.#handle.sync())
    const sha256 = this.#hash.copy().digest('hex')
    return { kind: 'fetched', size: this.#length, sha256, validators: this.validators ?? NO_VALIDATORS }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await withClockHeld(this.#clock, `closing ${this.#path}`, () => this.#handle.close())
  }
}

const NO_VALIDATORS: DownloadValidators = { etag: null, lastModified: null }

const imageRefusedError = (url: string, status: number): UserError =>
  new UserError('image-refused', `the server does not give ${maskedUrl(url)}: HTTP status ${status}`, {
    remedy:
      status === 401 || status === 403
        ? 'put credentials into the URL, or allow public access on the server'
        : 'check the URL of the image',
  })

const tooLarge = (url: string, largest: number): UserError =>
  new UserError('image-too-large', `${maskedUrl(url)} has more than ${largest} bytes, which is the limit here`, {
    remedy: 'check that the URL leads to the image; where a command has --cache-size, that sets the limit',
  })

const imageUnreachableError = (url: string, { length }: PartialFile, cause: FetchFailure | WrongAnswer): UserError =>
  new UserError(
    'image-unreachable',
    `${maskedUrl(url)} could not be fetched${length > 0 ? ` beyond its first ${length} bytes` : ''}`,
    { cause, remedy: cause instanceof FetchFailure ? cause.remedy : ERRORS['image-unreachable'].remedy },
  )
