import type { Random } from '../../../base/runtime/index.js'
import type { BootVolume } from '../../disk/boot-volume.js'

/** The boot filesystem with the mount point that messages name. */
export interface MountedBoot extends BootVolume {
  /** `/tmp/coreos-installer-DJHXRY` */
  readonly at: string
}

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'

/** Random suffix of a temporary file or folder. */
export const temporaryName = (random: Random): string =>
  [...random.bytes(6)].map((byte) => LETTERS[byte % LETTERS.length]).join('')

export function asMountedBoot(volume: BootVolume, random: Random): MountedBoot {
  return {
    at: `/tmp/coreos-installer-${temporaryName(random)}`,
    read: (path) => volume.read(path),
    write: (path, bytes, owner) => volume.write(path, bytes, owner),
    create: (path, bytes, owner) => volume.create(path, bytes, owner),
    mkdir: (path, owner) => volume.mkdir(path, owner),
    list: (path) => volume.list(path),
    stat: (path, options) => volume.stat(path, options),
    exists: (path) => volume.exists(path),
    readlink: (path) => volume.readlink(path),
    remove: (path) => volume.remove(path),
  }
}
