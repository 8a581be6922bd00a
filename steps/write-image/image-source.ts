import { open, type FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import {
  digestOfFile,
  FetchFailure,
  fileOfUrl,
  HttpClient,
  isFileUrl,
  maskedUrl,
  type FileAnswer,
  type HttpLimits,
} from '../../base/bytes/index.js'
import {
  defined,
  errorChain,
  withClockHeld,
  isDiskFull,
  seconds,
  temporaryFolder,
  type Clock,
  readNamedFile,
} from '../../base/runtime/index.js'
import { StepError, type StepContext } from '../sdk/step.js'
import type { ChecksumAlgorithm } from './image-info.js'

/** Defaults of IPA's `image_download_connection_retries` and `_retry_interval`. */
const MAX_DOWNLOAD_RETRIES = 9
const DOWNLOAD_RETRY_INTERVAL = seconds(10)

/** Largest document in memory, in bytes: checksums, config drives, files to inject. */
const MAX_SMALL_FILE_BYTES = 64 * 2 ** 20

/** Largest image, in bytes, which is a file of the agent's host until it is on the disk. */
const MAX_IMAGE_FILE_BYTES = 64 * 2 ** 30

export interface DownloadOptions {
  /** Bytes of an image. */
  largest?: number
  /** Attempts after the first. */
  retries?: number
  http?: Partial<HttpLimits>
  /** The header of that name; no other host gets it after a redirect. */
  authorization?: string | undefined
}

/** An image in a local file. */
export interface StagedImage extends AsyncDisposable {
  size: number
  /** Returns fewer bytes at the end of the file. */
  read(offset: number, length: number): Promise<Buffer>
  digest(algorithm: ChecksumAlgorithm): Promise<string>
}

/**
 * Opens an image: http(s) downloads it to a temporary file of the agent's host; `file` opens a file of the agent's host, not
 * of the target.
 *
 * @throws StepError of type ImageDownloadError when all URLs fail
 */
export async function stageImage(
  context: StepContext,
  urls: readonly string[],
  options: DownloadOptions = {},
): Promise<StagedImage> {
  const failures: string[] = []
  for (const url of urls)
    try {
      return isFileUrl(url)
        ? await openFile(context, await pathOf(url, context))
        : await downloadImage(context, url, options)
    } catch (error) {
      context.signal.throwIfAborted()
      failures.push(`${maskedUrl(url)}: ${errorChain(error).join(': ')}`)
    }
  throw new StepError(`the image could not be fetched: ${failures.join('; ')}`, { type: 'ImageDownloadError' })
}

/** Fetches a small document. */
export async function fetchSmall(context: StepContext, url: string): Promise<Buffer> {
  const { clock } = context
  if (isFileUrl(url))
    return withClockHeld(clock, `reading ${url}`, async () => readNamedFile(await pathOf(url, context)))
  const answer = await get(context, url)
  try {
    return await answer.bytes(MAX_SMALL_FILE_BYTES)
  } finally {
    await answer.close()
  }
}

/** Path of a file URL, as far as Ironic's rules for images allow it. */
async function pathOf(url: string, { clock, images }: Pick<StepContext, 'clock' | 'images'>): Promise<string> {
  const folders = images?.fileFolders
  if (folders === undefined) return fileURLToPath(url)
  return withClockHeld(clock, `looking for ${url}`, () => fileOfUrl(url, folders))
}

/** A final refusal: another attempt would not help. */
class Refused extends Error {
  override name = 'Refused'
}

async function get(
  { clock, signal, downloads, images }: Pick<StepContext, 'clock' | 'signal' | 'downloads' | 'images'>,
  url: string,
  { http: limits = {}, authorization }: Pick<DownloadOptions, 'http' | 'authorization'> = {},
): Promise<FileAnswer> {
  const client = new HttpClient({ clock, limits, ...defined({ proxies: images?.proxies, through: downloads }) })
  const answer = await client.get({ url, headers: defined({ authorization }), signal })
  const { status } = answer
  if (status === 200) return answer
  await answer.close()
  throw status < 500 ? new Refused(`HTTP status ${status}`) : new Error(`HTTP status ${status}`)
}

async function* noMoreThan(most: number, body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let size = 0
  for await (const part of body) {
    if ((size += part.length) > most) throw new Refused(`it has more than ${most} bytes`)
    yield part
  }
}

const isFinal = (error: unknown): boolean =>
  error instanceof Refused || isDiskFull(error) || (error instanceof FetchFailure && !error.transient)

/** Writes a file part by part. Time may pass while a part is awaited: a server can be slow. */
async function writeFile(path: string, parts: AsyncIterable<Uint8Array>, clock: Clock): Promise<void> {
  const file = await withClockHeld(clock, `making ${path}`, () => open(path, 'w'))
  try {
    for await (const part of parts) await withClockHeld(clock, `writing ${path}`, () => file.writeFile(part))
  } finally {
    await withClockHeld(clock, `closing ${path}`, () => file.close())
  }
}

async function downloadImage(
  context: StepContext,
  url: string,
  { largest = MAX_IMAGE_FILE_BYTES, retries = MAX_DOWNLOAD_RETRIES, ...request }: DownloadOptions,
): Promise<StagedImage> {
  const { clock, signal, logger } = context
  const folder = await withClockHeld(clock, 'making a folder for an image', () => temporaryFolder())
  const drop = () => withClockHeld(clock, 'deleting an image', () => folder[Symbol.asyncDispose]())
  try {
    const path = join(folder.path, 'image')
    for (let attempt = 0; ; attempt++)
      try {
        const { body, close } = await get(context, url, request)
        try {
          await writeFile(path, noMoreThan(largest, body), clock)
        } finally {
          await close()
        }
        break
      } catch (error) {
        signal.throwIfAborted()
        if (isFinal(error) || attempt === retries) throw error
        logger('warn', `downloading the image failed, and is tried again: ${errorChain(error).join(': ')}`)
        await clock.sleep(DOWNLOAD_RETRY_INTERVAL, { signal })
      }
    const file = await openFile(context, path)
    return {
      ...file,
      [Symbol.asyncDispose]: async () => {
        await file[Symbol.asyncDispose]()
        await drop()
      },
    }
  } catch (error) {
    await drop()
    throw error
  }
}

async function openFile({ clock, signal }: StepContext, path: string): Promise<StagedImage> {
  const file: FileHandle = await withClockHeld(clock, `opening ${path}`, () => open(path, 'r'))
  const { size } = await withClockHeld(clock, `looking at ${path}`, () => file.stat())
  return {
    size,
    read: (offset, length) =>
      withClockHeld(clock, `reading ${path}`, async () => {
        const buffer = Buffer.allocUnsafe(Math.max(0, Math.min(length, size - offset)))
        const { bytesRead } = await file.read(buffer, 0, buffer.length, offset)
        return buffer.subarray(0, bytesRead)
      }),
    digest: (algorithm) => digestOfFile(path, clock, { algorithm, signal }),
    [Symbol.asyncDispose]: () => withClockHeld(clock, `closing ${path}`, () => file.close()),
  }
}
