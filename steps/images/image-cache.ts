import { createReadStream } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import { HttpClient, maskedUrl, type HttpClientOptions } from '../../bytes/index.js'
import { isDiskFull, takeLock, tryLock, UserError, type Clock, type Logger } from '../../runtime/index.js'
import type { Asset, StageOptions } from '../../targets/index.js'
import { CacheFolder, type ImageRecord, type UrlRecord } from './cache-folder.js'
import { download, isKnownBy } from './download.js'
import { fetchSignature } from './fetch-signature.js'
import { Flights } from './flights.js'
import { digestOfFile, kindOfFile, readThrough } from './image-file.js'
import { refuseShort } from './image-kind.js'
import { checkSignature, type Signed } from './signature.js'
import { transcode } from './transcode.js'
import { damaged, wrongDigest } from './verdicts.js'

export interface ImageCacheOptions extends Omit<HttpClientOptions, 'clock'> {
  folder: string
  /** The contents of an image file, decompressed; throws for one that coreos-installer would not take. */
  contents: (path: string) => AsyncIterable<Uint8Array>
  /** In which form images are kept: as they were fetched, or what is in xz and gzip as zstd. Default: as fetched. */
  as?: 'fetched' | 'zstd'
  /** Bytes, beyond which the least lately used images go; 20 GiB unless told otherwise. */
  limit?: number
  /** How often in a row a server may fail to give anything new; 5 unless told otherwise. */
  attempts?: number
  /** Armoured OpenPGP keys to trust besides those that coreos-installer trusts. */
  trusted?: readonly string[]
  clock: Clock
  logger: Logger
}

/** An image at hand; it stays where it is until this is disposed of. */
export interface CachedImage extends AsyncDisposable {
  readonly path: string
  readonly record: ImageRecord
}

/** An image as people are told of it. */
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
  /** Images that stay since somebody installs from them. */
  inUse: number
}

export const DEFAULT_LIMIT = 20 * 2 ** 30

/**
 * Images by the digest of what was fetched: fetched once, checked once, for all processes that share the folder.
 *
 * @example
 * const cache = await ImageCache.open({ folder, contents, clock, logger })
 * await using image = await cache.get({ url, sha256: null, signature: 'where present' }, { signal })
 * await install(['--image-file', image.path])
 */
export class ImageCache {
  readonly #options: ImageCacheOptions
  readonly #folder: CacheFolder
  readonly #http: HttpClient
  readonly #flights = new Flights<ImageRecord, [number, number | null]>()

  private constructor(options: ImageCacheOptions, folder: CacheFolder) {
    this.#options = options
    this.#folder = folder
    this.#http = new HttpClient(options)
  }

  /** @throws UserError when the folder cannot be used */
  static async open(options: ImageCacheOptions): Promise<ImageCache> {
    return new ImageCache(options, await CacheFolder.open(options.folder, options.clock))
  }

  /**
   * Gives an image, fetched and checked if it is not at hand. A server is asked whether it has another version, unless
   * the digest is known; one that has no way to tell versions apart is asked for all of it every time.
   *
   * @throws UserError: image-refused, image-unreachable, image-is-page, image-too-large, image-too-short, image-digest, image-signature,
   *   image-damaged, cache-full; the signal's reason
   */
  async get(asset: Asset, options: StageOptions): Promise<CachedImage> {
    const { clock } = this.#options
    const { url, sha256, signature } = asset
    const name = JSON.stringify([url, sha256, signature])
    for (;;) {
      const { sha256: found } = await this.#flights.join(
        name,
        (signal, progress) => this.#roomFor(() => this.#obtain(asset, signal, progress)),
        options,
      )
      const use = await takeLock(this.#imageLock(found), 'shared', { clock, signal: options.signal })
      // Between the two it may have been replaced, or have gone for lack of room.
      const record = await this.#folder.image(found)
      if (record && (await this.#folder.isThere(record))) {
        await this.#folder.used(found)
        return { path: this.#folder.bytesOf(record), record, [Symbol.asyncDispose]: async () => use[Symbol.dispose]() }
      }
      use[Symbol.dispose]()
    }
  }

  /** The least lately used first. */
  async list(): Promise<ImageEntry[]> {
    const images = await this.#folder.images()
    return images.map(({ record, used }) => {
      const { size } = record.transcoded ?? record
      return { record, used, size, path: this.#folder.bytesOf(record) }
    })
  }

  /** Deletes what nobody is fetching, and the least lately used images until the others have no more than `limit` bytes. */
  async prune(limit: number = this.#limit): Promise<Pruned> {
    const pruned = await this.#shrink(limit, null)
    for (const { key, size } of await this.#folder.partials()) {
      using free = await tryLock(this.#folder.lockOf(`url-${key}`), 'exclusive')
      if (!free) continue
      await this.#folder.dropPartial(key)
      pruned.freed += size
    }
    return pruned
  }

  /**
   * Reads every image again and deletes those that are no longer what was kept.
   *
   * @param onImage told each with the verdict on it
   */
  async verify(onImage: (entry: ImageEntry, whole: boolean) => void, signal: AbortSignal): Promise<void> {
    for (const entry of await this.list()) {
      const { record, path } = entry
      const whole = await digestOfFile(path, this.#options.clock, signal).then(
        (digest) => digest === (record.transcoded ?? record).sha256,
        (error: unknown) => {
          signal.throwIfAborted()
          if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false
          throw error
        },
      )
      if (!whole) await this.#drop(record)
      onImage(entry, whole)
    }
  }

  get #limit(): number {
    return this.#options.limit ?? DEFAULT_LIMIT
  }

  #imageLock(sha256: string): string {
    return this.#folder.lockOf(`image-${sha256}`)
  }

  async #obtain(
    asset: Asset,
    signal: AbortSignal,
    onProgress: (received: number, total: number | null) => void,
  ): Promise<ImageRecord> {
    const { clock, logger, attempts } = this.#options
    const { url, sha256 } = asset
    const key = CacheFolder.keyOf(url)
    const byDigest = sha256 === null ? null : await this.#kept(sha256, asset)
    if (byDigest) return this.#ready(byDigest, signal)
    const onWait = () => logger('warn', `another process fetches ${maskedUrl(url)}: waiting for it`)
    using _ = await takeLock(this.#folder.lockOf(`url-${key}`), 'exclusive', { clock, signal, onWait })
    const after = sha256 === null ? null : await this.#kept(sha256, asset)
    if (after) return await this.#ready(after, signal)
    const last = await this.#folder.url(key)
    const atHand = last && isKnownBy(last) ? await this.#kept(last.sha256, asset) : null
    const got = await download({
      ...{ http: this.#http, url, path: this.#folder.partialOf(key), partial: await this.#folder.partial(key) },
      ...{ atHand: atHand && last, clock, logger, signal, onProgress },
      ...(attempts === undefined ? {} : { attempts }),
      largest: this.#limit,
      onVersion: (version) => this.#folder.keepPartial(key, version),
    })
    if (got.kind === 'unchanged') {
      await this.#folder.dropPartial(key)
      return await this.#ready(atHand!, signal)
    }
    const record = await this.#check(asset, key, got, signal)
    await this.#folder.add(key, record)
    const link: UrlRecord = { ...got.validators, sha256: got.sha256 }
    await this.#folder.keepUrl(key, link)
    logger('info', `fetched ${maskedUrl(url)}`, { size: got.size, digest: got.sha256, ...record.verified })
    const ready = await this.#ready(await this.#known(record), signal)
    await this.#shrink(this.#limit, got.sha256)
    return ready
  }

  /** What is known of an image that may have been kept before: all that it was ever held against. */
  async #known(record: ImageRecord): Promise<ImageRecord> {
    const kept = (await this.#folder.image(record.sha256)) ?? record
    const verified = {
      sha256: kept.verified.sha256 || record.verified.sha256,
      signed: record.verified.signed ?? kept.verified.signed,
      whole: kept.verified.whole || record.verified.whole,
    }
    const known = { ...kept, verified, sources: [...new Set([...kept.sources, ...record.sources])] }
    if (!isDeepStrictEqual(known, kept)) await this.#folder.keepImage(known)
    return known
  }

  /** What is kept by that name, if it is as the asset has to be. */
  async #kept(sha256: string, asset: Asset): Promise<ImageRecord | null> {
    if (asset.sha256 !== null && asset.sha256 !== sha256) return null
    const record = await this.#folder.image(sha256)
    if (!record || !(await this.#folder.isThere(record))) return null
    return asset.signature === 'required' && !record.verified.signed ? null : record
  }

  /** Checks what was fetched in every way there is. What does not pass is not kept. */
  async #check(
    asset: Asset,
    key: string,
    { sha256, size }: { sha256: string; size: number },
    signal: AbortSignal,
  ): Promise<ImageRecord> {
    const { clock } = this.#options
    const path = this.#folder.partialOf(key)
    const shown = maskedUrl(asset.url)
    try {
      const kind = await kindOfFile(path, clock)
      if (asset.of !== 'anything') refuseShort(kind, size, shown)
      if (asset.sha256 !== null && asset.sha256 !== sha256) throw wrongDigest(shown, asset.sha256, sha256)
      const signed = await this.#signed(asset, path, signal)
      const vouched = asset.sha256 !== null || signed !== null
      // Nobody vouches for it, so its own check sums must: a half image is refused before any disk is touched.
      if (!vouched && kind !== 'raw') await readThrough(this.#options.contents(path), shown, signal)
      return {
        ...{ sha256, size, kind, sources: [shown], fetched: Math.round(clock.now() / 1000), transcoded: null },
        verified: { sha256: asset.sha256 !== null, signed, whole: !vouched && kind !== 'raw' },
      }
    } catch (error) {
      if (!signal.aborted) await this.#folder.dropPartial(key)
      throw error
    }
  }

  async #signed(asset: Asset, path: string, signal: AbortSignal): Promise<Signed | null> {
    const { clock, logger, trusted = [] } = this.#options
    const signature = await fetchSignature(asset, { http: this.#http, clock, logger, signal })
    if (signature === null) return null
    const check = await checkSignature(signature, trusted, maskedUrl(asset.url), clock)
    try {
      for await (const part of createReadStream(path, { highWaterMark: 2 ** 20 })) {
        signal.throwIfAborted()
        await check.update(part as Buffer)
      }
      return await check.finish()
    } finally {
      await check.cancel()
    }
  }

  /** In the form that is wanted, made now if need be. */
  async #ready(record: ImageRecord, signal: AbortSignal): Promise<ImageRecord> {
    const { as = 'fetched', clock, logger, contents } = this.#options
    if (as === 'fetched' || record.transcoded || record.kind === 'raw' || record.kind === 'zst') return record
    using _ = await takeLock(this.#folder.lockOf(`make-${record.sha256}`), 'exclusive', { clock, signal })
    const now = await this.#folder.image(record.sha256)
    if (now?.transcoded) return now
    using use = await takeLock(this.#imageLock(record.sha256), 'shared', { clock, signal })
    const since = clock.elapsed()
    let made: ImageRecord
    try {
      const form = await transcode(contents(this.#folder.bytesOf(record)), this.#folder.newFormOf(record), {
        ...{ clock, signal },
      })
      made = await this.#folder.replace(record, form)
    } catch (error) {
      signal.throwIfAborted()
      if (isDiskFull(error)) throw error
      use[Symbol.dispose]()
      await this.#drop(record)
      throw damaged(record.sources[0] ?? record.sha256, error)
    }
    logger('info', `${record.sources[0] ?? record.sha256} is kept as zstd`, {
      ...{ of: record.sha256, contents: made.transcoded?.contents.sha256, sha256: made.transcoded?.sha256 },
      ...{ size: made.transcoded?.size, seconds: Math.round((clock.elapsed() - since) / 1000) },
    })
    use[Symbol.dispose]()
    await this.#tidy(made)
    return made
  }

  async #tidy(record: ImageRecord): Promise<void> {
    using free = await tryLock(this.#imageLock(record.sha256), 'exclusive')
    if (free) await this.#folder.tidy(record)
  }

  async #drop({ sha256 }: ImageRecord): Promise<boolean> {
    using free = await tryLock(this.#imageLock(sha256), 'exclusive')
    if (free) await this.#folder.remove(sha256)
    return free !== undefined
  }

  async #shrink(limit: number, keep: string | null): Promise<Pruned> {
    const images = await this.list()
    const pruned = { images: 0, freed: 0, inUse: 0 }
    let total = images.reduce((sum, { size }) => sum + size, 0)
    for (const { record, size } of images) {
      if (total <= limit) await this.#tidy(record)
      else if (record.sha256 !== keep) {
        if (await this.#drop(record)) {
          pruned.images++
          pruned.freed += size
          total -= size
        } else pruned.inUse++
      }
    }
    return pruned
  }

  async #roomFor<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (cause) {
      if (!isDiskFull(cause)) throw cause
      throw new UserError('cache-full', `there is no room for the image in ${this.#options.folder}`, {
        cause,
        remedy: 'make room (ironstage cache prune), or name another folder with --cache-dir',
      })
    }
  }
}
