import { createHash } from 'node:crypto'
import { UserError, type Clock, type Logger } from '../../runtime/index.js'
import type { Asset } from './asset.js'
import { fetchSignature } from './fetch-signature.js'
import { Unreachable, type ImageHttp } from './image-http.js'
import { KIND_BYTES, refusePages } from './image-kind.js'
import type { CheckedStream } from './image-server.js'
import { maskedUrl } from './masked-url.js'
import { checkSignature } from './signature.js'
import { wrongDigest } from './verdicts.js'

export interface CheckedStreamOptions {
  http: ImageHttp
  trusted: readonly string[]
  clock: Clock
  logger: Logger
}

/**
 * Asks for an image and checks it while it comes, keeping nothing.
 *
 * @throws UserError: image-refused, image-unreachable, image-signature; later, from its bytes and its verdict, as
 *   {@link ImageCache.get}
 */
export async function openCheckedStream(
  asset: Asset,
  { http, trusted, clock, logger }: CheckedStreamOptions,
  signal: AbortSignal,
): Promise<CheckedStream> {
  const { url } = asset
  const shown = maskedUrl(url)
  const unreachable = (cause: unknown) =>
    new UserError('image-unreachable', `${shown} could not be fetched`, {
      cause,
      remedy: 'check the image server and the network to it',
    })
  const signature = await fetchSignature(asset, { http, clock, logger, signal })
  const check = signature && (await checkSignature(signature, trusted, shown, clock))
  const answer = await http.get(url, {}, signal).catch((error: unknown) => {
    throw error instanceof Unreachable ? unreachable(error) : error
  })
  const { status, headers } = answer
  const size = Number(headers['content-length'] ?? NaN)
  if (status !== 200 || Number.isNaN(size)) {
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
      let [received, looked] = [0, false]
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
          received += part.length
          yield part
        }
        if (received !== size) throw new Unreachable(`it ended after ${received} of ${size} bytes`)
      } catch (error) {
        throw error instanceof Unreachable ? unreachable(error) : error
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
