import { findLiveImages, type LiveImageFiles } from '../../../coreos/index.js'
import { REHEARSAL_LIVE_ISO } from '../../../lab/index.js'
import { type Clock } from '../../../base/runtime/index.js'
import type { Environment } from '../environment.js'
import type { CommandOptionValues } from '../options/resolve-options.js'
import type { LIVE_IMAGE_OPTIONS } from '../options/option-lists.js'
import { usageError } from '../usage-error.js'

/**
 * The live images that the options name, for machines of the usual architecture unless their names say otherwise;
 * undefined when they name none.
 *
 * @throws UserError for a folder without any
 */
export async function liveImagesOf(
  options: CommandOptionValues<(typeof LIVE_IMAGE_OPTIONS)[number]>,
  clock: Clock,
): Promise<LiveImageFiles[] | undefined> {
  const { 'live-image': place, 'live-iso': iso, 'live-kernel': kernel } = options
  const { 'live-initramfs': initramfs, 'live-rootfs': rootfs } = options
  const single = Object.entries({ iso, kernel, initramfs, rootfs }).filter(([, path]) => path !== undefined)
  if (place !== undefined && single.length > 0)
    throw usageError(
      `--live-image and --live-${single[0]![0]} both say which live image there is`,
      'give a folder with --live-image, or single files',
      'live-files',
    )
  if (place !== undefined) return findLiveImages(place, clock)
  if (single.length === 0) return undefined
  return [{ architecture: 'x86_64', ...(Object.fromEntries(single) as Partial<LiveImageFiles>) }]
}

/** The live ISO that comes with ironstage, which only simulated machines boot. */
export const rehearsalLiveImage: LiveImageFiles[] = [{ architecture: 'x86_64', iso: REHEARSAL_LIVE_ISO }]

const ON = ['1', 't', 'true', 'on', 'y', 'yes']
const OFF_WORDS = ['', '0', 'f', 'false', 'off', 'n', 'no']

/**
 * Whether nodes boot CoreOS with the agent in a container by default: off, as the design document
 * has it.
 *
 * @throws UserError for a word that is neither yes nor no
 */
export function useCoreosIpa(variables: Environment['variables']): boolean {
  const word = (variables['IRONIC_USE_COREOS_IPA'] ?? '').toLowerCase()
  if (ON.includes(word) || OFF_WORDS.includes(word)) return ON.includes(word)
  throw usageError(
    `IRONIC_USE_COREOS_IPA is ${JSON.stringify(word)}, which is neither yes nor no`,
    'set it to true or false',
    'bad-option',
  )
}
