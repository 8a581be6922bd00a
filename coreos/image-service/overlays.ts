import type { Clock } from '../../runtime/index.js'
import { followedBy, overlay, type Representation } from '../../bytes/index.js'
import { IGNITION_FILE } from '../live/contents.js'
import { wrapFiles } from '../live/initramfs.js'
import { digest, type BaseFile, type LiveSet } from './live-files.js'

const TYPES = { iso: 'application/x-iso9660-image', bytes: 'application/octet-stream' }

/** A file as it is. */
export const plainFile = ({ source, identity, modified }: BaseFile): Representation => ({
  ...{ source, modified, etag: `"${identity}"`, type: TYPES.bytes },
})

/** When both a file and what is laid over it are as they are now. */
interface Laid {
  config: string
  /** Milliseconds since the epoch, of the config. */
  modified: number
}

/**
 * The live ISO with a config embedded: nothing is copied, and what is kept is the config's archive, not the area that
 * it is in.
 *
 * @throws LiveImageError for a config that is too large for the area, with both sizes
 */
export async function customisedIso(
  iso: NonNullable<LiveSet['iso']>,
  { config, modified }: Laid,
): Promise<Representation> {
  const { offset, bytes } = await iso.live.embed(new Map([[IGNITION_FILE, Buffer.from(config)]]))
  let end = bytes.length
  while (end > 0 && bytes[end - 1] === 0) end--
  // The rest of the area is zero already: the image is as it was published.
  const archive = Buffer.from(bytes.subarray(0, end))
  return {
    source: overlay(iso.source, [{ offset, bytes: archive }]),
    etag: `"${digest(`${iso.identity} ${digest(config)}`)}"`,
    modified: Math.max(iso.modified, modified),
    type: TYPES.iso,
  }
}

/** The initramfs with an archive after it that has the config. */
export async function customisedInitramfs(
  base: BaseFile,
  { config, modified }: Laid,
  clock: Clock,
): Promise<Representation> {
  const archive = await wrapFiles(new Map([[IGNITION_FILE, Buffer.from(config)]]), clock)
  return {
    source: followedBy(base.source, archive),
    etag: `"${digest(`${base.identity} ${digest(config)}`)}"`,
    modified: Math.max(base.modified, modified),
    type: TYPES.bytes,
  }
}
