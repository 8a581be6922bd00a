import type { HttpClientOptions } from '../../base/bytes/index.js'
import type { Clock, Logger } from '../../base/runtime/index.js'
import type { ImageRecord } from './cache-folder.js'

export interface ImageCacheOptions extends Omit<HttpClientOptions, 'clock'> {
  folder: string
  /** Decompresses an image file; throws for a file that coreos-installer would refuse. */
  contents: (path: string) => AsyncIterable<Uint8Array>
  /**
   * Format of cached images: `fetched` (default) stores the fetched bytes, `zstd` recompresses xz and gzip, `raw` stores
   * the contents themselves without their zeros, which installs fastest and takes most room.
   */
  as?: 'fetched' | 'zstd' | 'raw'
  /** Size in bytes beyond which the least recently used images are deleted; 20 GiB by default. */
  limit?: number
  /** Download attempts in a row without progress; 5 by default. */
  attempts?: number
  /** Armoured OpenPGP keys to trust besides those that coreos-installer trusts. */
  trusted?: readonly string[]
  clock: Clock
  logger: Logger
}

/** A cached image; its file stays in place until this is disposed of. */
export interface CachedImage extends AsyncDisposable {
  readonly path: string
  readonly record: ImageRecord
}

/** An image in a list. */
export interface ImageEntry {
  record: ImageRecord
  path: string
  /** Bytes on the disk. */
  size: number
  /** Seconds since 1970. */
  used: number
}

export interface Pruned {
  images: number
  /** Bytes. */
  freed: number
  /** Images that stay because an installation reads them. */
  inUse: number
}
