import { FetchFailure, maskedUrl, type HttpClient } from '../../base/bytes/index.js'
import { seconds, UserError, type Clock, type Logger } from '../../base/runtime/index.js'
import type { ImageAsset } from '../../targets/index.js'
import { signatureUrlOf } from './signature-url.js'

const MAX_SIGNATURE_BYTES = 64 * 1024
const SIGNATURE_RETRY_DELAYS = [seconds(1), seconds(5)]

export interface FetchSignatureOptions {
  http: HttpClient
  clock: Clock
  logger: Logger
  signal: AbortSignal
}

/**
 * Fetches the detached signature of an image; null when there is none or it cannot be fetched. coreos-installer, too, only
 * warns of that.
 *
 * @throws UserError (image-signature) when the asset requires a signature
 */
export async function fetchSignature(asset: ImageAsset, options: FetchSignatureOptions): Promise<Uint8Array | null> {
  const { clock, logger, signal } = options
  const url = asset.signatureUrl ?? signatureUrlOf(asset.url)
  let why: string
  for (let attempt = 0; ; attempt++) {
    const answer = await fetchSignatureOnce(url, options)
    if (typeof answer !== 'string') return answer
    why = answer
    const pause = SIGNATURE_RETRY_DELAYS[attempt]
    if (pause === undefined || /^HTTP status 4/.test(why)) break
    await clock.sleep(pause, { signal })
  }
  if (asset.signature === 'required')
    throw new UserError('image-signature', `there is no signature at ${maskedUrl(url)}: ${why}`, {
      remedy: 'take the image from a server that has its signature, or allow it without (insecure)',
    })
  if (why !== 'HTTP status 404') logger('warn', `the signature at ${maskedUrl(url)} cannot be fetched: ${why}`)
  return null
}

/** Fetches the signature; returns the reason when there is none. */
async function fetchSignatureOnce(url: string, { http, signal }: FetchSignatureOptions): Promise<Uint8Array | string> {
  try {
    const answer = await http.get({ url, signal })
    try {
      if (answer.status !== 200) return `HTTP status ${answer.status}`
      return await answer.bytes(MAX_SIGNATURE_BYTES)
    } finally {
      await answer.close()
    }
  } catch (error) {
    if (error instanceof FetchFailure) return error.message
    throw error
  }
}
