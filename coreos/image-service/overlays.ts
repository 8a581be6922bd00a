import type { Clock } from '../../base/runtime/index.js'
import { followedBy, overlaySource, type Representation } from '../../base/bytes/index.js'
import { IGNITION_FILE } from '../live/contents.js'
import { wrapFiles } from '../live/initramfs.js'
import { shortDigest, type BaseFile, type LiveSet } from './live-files.js'

const OVERLAY_CONTENT_TYPES = { iso: 'application/x-iso9660-image', bytes: 'application/octet-stream' }

/** A file without an overlay. */
export const plainFile = ({ source, identity, modified }: BaseFile): Representation => ({
  source,
  modified,
  etag: `"${identity}"`,
  type: OVERLAY_CONTENT_TYPES.bytes,
})

/** The config to embed. */
interface EmbeddedConfig {
  config: string
  /** When the config last changed, in milliseconds since the epoch. */
  modified: number
}

/**
 * The live ISO with an embedded config, as an overlay. Only the config's archive is held in memory, not the whole embed
 * area.
 *
 * @throws LiveImageError for a config that is too large for the area, with both sizes
 */
export async function customizedIso(
  iso: NonNullable<LiveSet['iso']>,
  { config, modified }: EmbeddedConfig,
): Promise<Representation> {
  const { offset, bytes } = await iso.live.embed(new Map([[IGNITION_FILE, Buffer.from(config)]]))
  let end = bytes.length
  while (end > 0 && bytes[end - 1] === 0) end--
  // A published image has zeros in the rest of the area.
  const archive = Buffer.from(bytes.subarray(0, end))
  return {
    source: overlaySource(iso.source, [{ offset, bytes: archive }]),
    etag: `"${shortDigest(`${iso.identity} ${shortDigest(config)}`)}"`,
    modified: Math.max(iso.modified, modified),
    type: OVERLAY_CONTENT_TYPES.iso,
  }
}

/** The initramfs with an appended archive that contains the config. */
export async function customizedInitramfs(
  base: BaseFile,
  { config, modified }: EmbeddedConfig,
  clock: Clock,
): Promise<Representation> {
  const archive = await wrapFiles(new Map([[IGNITION_FILE, Buffer.from(config)]]), clock)
  return {
    source: followedBy(base.source, archive),
    etag: `"${shortDigest(`${base.identity} ${shortDigest(config)}`)}"`,
    modified: Math.max(base.modified, modified),
    type: OVERLAY_CONTENT_TYPES.bytes,
  }
}
