import { FetchFailure, maskedUrl, type HttpClient } from '../../bytes/index.js'
import { seconds, UserError, type Clock, type Logger } from '../../runtime/index.js'
import type { Asset } from '../../targets/index.js'
import { signatureUrlOf } from './signature-url.js'

const LARGEST = 64 * 1024
const PAUSES = [seconds(1), seconds(5)]

export interface FetchSignatureOptions {
  http: HttpClient
  clock: Clock
  logger: Logger
  signal: AbortSignal
}

/**
 * The detached signature of an image; null when it has none. One that cannot be fetched is none too, as for
 * coreos-installer, which only tells of it.
 *
 * @throws UserError (image-signature) when there must be one
 */
export async function fetchSignature(asset: Asset, options: FetchSignatureOptions): Promise<Uint8Array | null> {
  const { clock, logger, signal } = options
  const url = asset.signatureUrl ?? signatureUrlOf(asset.url)
  let why: string
  for (let attempt = 0; ; attempt++) {
    const answer = await ask(url, options)
    if (typeof answer !== 'string') return answer
    why = answer
    const pause = PAUSES[attempt]
    if (pause === undefined || /^HTTP status 4/.test(why)) break
    await clock.sleep(pause, { signal })
  }
  if (asset.signature === 'required')
    throw new UserError('image-signature', `there is no signature at ${maskedUrl(url)}: ${why}`, {
      remedy: 'take the image from where it is signed, or allow it without (insecure)',
    })
  if (why !== 'HTTP status 404') logger('warn', `the signature at ${maskedUrl(url)} is not to be had: ${why}`)
  return null
}

/** The signature, or why there is none. */
async function ask(url: string, { http, signal }: FetchSignatureOptions): Promise<Uint8Array | string> {
  try {
    const answer = await http.get({ url, signal })
    try {
      if (answer.status !== 200) return `HTTP status ${answer.status}`
      return await answer.bytes(LARGEST)
    } finally {
      await answer.close()
    }
  } catch (error) {
    if (error instanceof FetchFailure) return error.message
    throw error
  }
}
