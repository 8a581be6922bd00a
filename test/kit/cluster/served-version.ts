import { openLiveIso } from '../../../coreos/index.js'
import { bootNetwork } from '../../../lab/stage/boot-network.js'
import { liveVersion } from '../../../machine/live/live-version.js'
import { errorChain, UserError, type Clock } from '../../../runtime/index.js'

/**
 * The version of the live ISO that an image service hands out now, read from what it serves.
 *
 * @throws UserError `images-unreachable`
 */
export async function servedVersion(iso: string, clock: Clock, signal: AbortSignal): Promise<string | null> {
  const network = bootNetwork(clock)
  try {
    const image = await openLiveIso(await network.open(iso, signal), clock)
    return liveVersion(image.kargs?.default ?? '')
  } catch (cause) {
    signal.throwIfAborted()
    throw new UserError(
      'images-unreachable',
      `the image service does not hand out a live ISO: ${errorChain(cause)[0]}`,
      {
        remedy: 'start the image service, with the images of the release, before Ironic',
        cause,
      },
    )
  }
}
