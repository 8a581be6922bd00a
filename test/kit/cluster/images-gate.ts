import { compareVersions } from '../../../coreos/index.js'
import type { StageOptions } from '../../../lab/index.js'
import { errorChain, seconds, UserError, type Clock, type Logger } from '../../../runtime/index.js'
import { servedVersion } from './served-version.js'

/** The release that an image service must hand out before a conductor may start. */
export interface ImagesGate {
  /** Oldest version of CoreOS that will do. */
  version: string
  /** URL of the live ISO; the stage's own image service's unless told otherwise. */
  iso?: string
  /** How long to wait for it, in milliseconds of lab time; 0 refuses at once. */
  patience: number
}

const PAUSE = seconds(5)

/**
 * Lets a conductor start only once the image service has the release's images: what its start reboots must not boot the
 * old ones again.
 *
 * @throws UserError `images-outdated` with what is served instead, when patience is over
 */
export async function imagesReady(
  { version, iso, patience }: ImagesGate & { iso: string },
  { clock, logger, signal }: { clock: Clock; logger: Logger; signal: AbortSignal },
): Promise<void> {
  const begun = clock.now()
  for (;;) {
    const found = await servedVersion(iso, clock, signal).catch((error: unknown) => {
      if (error instanceof UserError) return error
      throw error
    })
    if (typeof found === 'string' && compareVersions(found, version) >= 0) return
    const what =
      found instanceof UserError ? errorChain(found).join(': ') : `the image service hands out ${found ?? 'no version'}`
    if (clock.now() - begun >= patience)
      throw new UserError('images-outdated', `Ironic must not start yet: ${what}, and the release wants ${version}`, {
        remedy: 'update the image service first: what Ironic reboots when it starts would boot the old image again',
      })
    logger('info', `waiting for the images of ${version}: ${what}`)
    await clock.sleep(PAUSE, { signal })
  }
}

/** A stage whose conductor starts only once its image service, or another, hands out a release. */
export function behindImagesGate(gate: ImagesGate): Pick<StageOptions, 'beforeConductor'> {
  return {
    beforeConductor: ({ images, clock, logger }) => {
      const iso = gate.iso ?? images?.urls()?.iso
      if (!iso)
        throw new UserError('no-live-images', 'the conductor waits for live images, and no image service is configured')
      // A start that fails ends the wait by its own failure.
      return imagesReady({ ...gate, iso }, { clock, logger, signal: new AbortController().signal })
    },
  }
}
