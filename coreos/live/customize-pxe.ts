import type { Clock } from '../../base/runtime/index.js'
import { followedBy, type ByteSource } from '../../base/bytes/index.js'
import { IGNITION_FILE, isKeyfile } from './contents.js'
import { customize, type Customization, type Customized } from './customize.js'
import { parseFeatures, type OsFeatures } from './features.js'
import { readInitramfs, wrapFiles } from './initramfs.js'
import { LiveImageError } from '../live-image-error.js'

/** File that every live initramfs of CoreOS has. */
const LIVE_INITRAMFS_FILE = 'etc/coreos-live-initramfs'
const FEATURES = 'etc/coreos/features.json'

/**
 * Appends an archive with the customization to a live initramfs. When it holds an Ignition config, the kernel needs the
 * arguments of {@link liveKernelArguments}.
 *
 * @throws LiveImageError for an initramfs that is not CoreOS's, or that is already customized
 */
export async function customizePxe(
  initramfs: ByteSource,
  customization: Customization,
  clock: Clock,
  report?: (message: string) => void,
): Promise<Customized & { image: ByteSource }> {
  const files = await LiveImageError.during('reading/copying input initrd', () =>
    readInitramfs(
      initramfs,
      clock,
      (path) => [LIVE_INITRAMFS_FILE, FEATURES, IGNITION_FILE].includes(path) || isKeyfile(path),
    ),
  )
  if (!files.has(LIVE_INITRAMFS_FILE)) throw new LiveImageError('not a CoreOS live initramfs image')
  if (files.has(IGNITION_FILE) || [...files.keys()].some(isKeyfile))
    throw new LiveImageError('input is already customized')
  const described = files.get(FEATURES)
  const features: OsFeatures = described ? parseFeatures(described) : {}
  const customized = customize(customization, features, report)
  const { files: wanted } = customized
  const image = wanted.size === 0 ? initramfs : followedBy(initramfs, await wrapFiles(wanted, clock))
  return { ...customized, image }
}
