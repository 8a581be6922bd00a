import type { ByteSource, IsoFilesystem } from '../../base/bytes/index.js'
import { LiveImageError } from '../live-image-error.js'

const FOLDER = 'IMAGES/PXEBOOT'

/**
 * All PXE files of a live ISO (kernel, initramfs, root filesystem ...), by their lower-case names.
 *
 * @throws LiveImageError for an image without PXE files, and for a name that leads out of a folder
 */
export async function pxeFiles(filesystem: IsoFilesystem): Promise<{ name: string; contents: ByteSource }[]> {
  const entries = await LiveImageError.during('Unrecognized CoreOS ISO image.', () => filesystem.list(FOLDER))
  return entries
    .filter(({ folder }) => !folder)
    .map((entry) => {
      const name = entry.name.toLowerCase()
      if (!/^[\w.-]+$/.test(name) || /^\.+$/.test(name))
        throw new LiveImageError(`${JSON.stringify(entry.name)} is not a valid name for an extracted file`)
      return { name, contents: filesystem.contents(entry) }
    })
}
