import { open, stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { digestOfFile, FetchFailure, HttpClient, withoutPasswords, type HttpThrough } from '../../../bytes/index.js'
import { held, seconds, type Clock } from '../../../runtime/index.js'

/** Image at a URL, as far as Ironic checks it before an agent gets the URL. */
export interface FoundImage {
  /** URL after redirects. */
  url: string
  /** Format of a file; null for an image behind http. */
  format: 'raw' | 'qcow2' | null
  /** Digest of a file in hex, when requested. */
  sha256: string | null
}

export interface FindImageOptions {
  digest: boolean
  /** Uuid of the node that it is for. */
  node: string
  signal: AbortSignal
}

/** Checks an image. The message of a rejection is what Ironic says of an image that it cannot use. */
export type FindImage = (url: string, options: FindImageOptions) => Promise<FoundImage>

/** Upstream's `[DEFAULT]webserver_connection_timeout`. */
const TIMEOUT = seconds(60)
/** Folders that Ironic refuses in file URLs. */
const FORBIDDEN = ['/dev', '/sys', '/proc', '/boot', '/etc', '/run']
const QCOW2 = 'QFI\xfb'

/**
 * Checks images behind http(s) with HEAD, as Ironic does, and files of this host.
 *
 * @param through sees the requests for a node
 */
export const findImages =
  (clock: Clock, through?: (node: string) => HttpThrough): FindImage =>
  (url, { digest, node, signal }) =>
    url.startsWith('file:')
      ? held(clock, `looking at the image ${withoutPasswords(url)}`, () => findFile(url, { digest, clock, signal }))
      : ask(url, { clock, through: through?.(node), signal })

const imageProblem = (url: string, reason: string): string =>
  `Validation of image href ${withoutPasswords(url)} failed, reason: ${reason}`

interface Asking {
  clock: Clock
  through: HttpThrough | undefined
  signal: AbortSignal
}

async function ask(url: string, { clock, through, signal }: Asking): Promise<FoundImage> {
  const limits = { connect: TIMEOUT, header: TIMEOUT }
  const http = new HttpClient({ clock, redirects: 30, limits, ...(through ? { through } : {}) })
  const answer = await http.get({ url, method: 'HEAD', signal }).catch((error: unknown) => {
    throw error instanceof FetchFailure ? new Error(imageProblem(url, error.message)) : error
  })
  await answer.close()
  const { status } = answer
  if (status !== 200)
    throw new Error(imageProblem(url, `Got HTTP code ${status} instead of 200 in response to HEAD request.`))
  return { url: answer.redirected ? answer.url : url, format: null, sha256: null }
}

async function findFile(
  url: string,
  { digest, clock, signal }: { digest: boolean; clock: Clock; signal: AbortSignal },
): Promise<FoundImage> {
  const path = resolve(decodeURIComponent(new URL(url).pathname))
  const forbidden = FORBIDDEN.find((folder) => path === folder || path.startsWith(`${folder}/`))
  if (forbidden !== undefined)
    throw new Error(imageProblem(url, `Security: The path ${forbidden} is not permitted in file URLs`))
  const found = await stat(path).catch(() => undefined)
  if (!found?.isFile()) throw new Error(imageProblem(url, 'Specified image file not found.'))
  await using file = await open(path)
  const { buffer, bytesRead } = await file.read(Buffer.alloc(4), 0, 4, 0)
  const format = buffer.toString('latin1', 0, bytesRead) === QCOW2 ? 'qcow2' : 'raw'
  return { url, format, sha256: digest ? await digestOfFile(path, clock, { signal }) : null }
}
