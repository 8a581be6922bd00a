import { createHash } from 'node:crypto'
import { FetchFailure, maskedUrl, type HttpClient } from '../../base/bytes/index.js'
import { UserError, type Clock, type Logger } from '../../base/runtime/index.js'
import type { ImageAsset } from '../../targets/index.js'
import { fetchSignature } from './fetch-signature.js'
import { KIND_BYTES, refusePages } from './image-kind.js'
import type { CheckedStream } from './image-server.js'
import { checkSignature } from './image-signature.js'
import { wrongDigest } from './image-errors.js'

export interface CheckedStreamOptions {
  http: HttpClient
  trusted: readonly string[]
  clock: Clock
  logger: Logger
}

/**
 * Fetches an image and checks it while it streams, without storing it.
 *
 * @throws UserError: image-refused, image-unreachable, image-signature; later, from its bytes and its verdict, as
 *   {@link ImageCache.get}
 */
export async function openCheckedStream(
  asset: ImageAsset,
  { http, trusted, clock, logger }: CheckedStreamOptions,
  signal: AbortSignal,
): Promise<CheckedStream> {
  const { url } = asset
  const shown = maskedUrl(url)
  const unreachable = (cause: FetchFailure) =>
    new UserError('image-unreachable', `${shown} could not be fetched`, {
      cause,
      remedy: cause.remedy,
    })
  const signature = await fetchSignature(asset, { http, clock, logger, signal })
  const check = signature && (await checkSignature(signature, trusted, shown, clock))
  const answer = await http.get({ url, signal }).catch((error: unknown) => {
    throw error instanceof FetchFailure ? unreachable(error) : error
  })
  const { status, headers, length: size } = answer
  if (status !== 200 || size === null) {
    await answer.close()
    const why = status === 200 ? 'it does not say how long it is' : `HTTP status ${status}`
    throw new UserError('image-refused', `the server does not give ${shown}: ${why}`, {
      remedy: status === 200 ? 'let it be cached (without --no-cache)' : 'check the URL of the image',
    })
  }
  const hash = createHash('sha256')
  return {
    size,
    bytes: (async function* () {
      let looked = false
      let head = Buffer.alloc(0)
      try {
        for await (const part of answer.body) {
          if (!looked) {
            head = Buffer.concat([head, part])
            looked = head.length >= KIND_BYTES || head.length === size
            if (looked) refusePages(head, headers['content-type'], shown)
          }
          hash.update(part)
          await check?.update(part)
          yield part
        }
      } catch (error) {
        throw error instanceof FetchFailure ? unreachable(error) : error
      } finally {
        await answer.close()
      }
    })(),
    verdict: async () => {
      const found = hash.digest('hex')
      if (asset.sha256 !== null && asset.sha256 !== found) throw wrongDigest(shown, asset.sha256, found)
      await check?.finish()
    },
  }
}
