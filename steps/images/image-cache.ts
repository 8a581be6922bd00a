import { createReadStream } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import { HttpClient, maskedUrl } from '../../base/bytes/index.js'
import { defined, isDiskFull, takeLock, tryLock, UserError } from '../../base/runtime/index.js'
import type { ImageAsset, StageAssetOptions } from '../../targets/index.js'
import type { CachedImage, ImageCacheOptions, ImageEntry, Pruned } from './cached-image.js'
import { CacheFolder, fileOf, formOf, type ImageRecord, type UrlRecord } from './cache-folder.js'
import { DigestChecks, hasItsDigest } from './digest-checks.js'
import { downloadFile, isKnownBy } from './download-file.js'
import { fetchSignature } from './fetch-signature.js'
import { SharedWork } from './shared-work.js'
import { kindOfFile, readThrough } from './image-file.js'
import { refuseShort } from './image-kind.js'
import { checkSignature, type Signed } from './image-signature.js'
import { transcodeToRaw, transcodeToZstd } from './transcode.js'
import { imageDamagedError, wrongDigest } from './image-errors.js'

const DEFAULT_CACHE_BYTES = 20 * 2 ** 30

/**
 * Cache of images by the digest of their fetched bytes. All processes that share the folder fetch and check an image once.
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
  readonly #shared = new SharedWork<ImageRecord, [number, number | null]>()
  readonly #checks: DigestChecks
  readonly #limit: number

  private constructor(options: ImageCacheOptions, folder: CacheFolder) {
    this.#options = options
    this.#folder = folder
    this.#http = new HttpClient(options)
    this.#checks = new DigestChecks(folder, options.clock)
    this.#limit = options.limit ?? DEFAULT_CACHE_BYTES
  }

  /** @throws UserError when the folder cannot be used */
  static async open(options: ImageCacheOptions): Promise<ImageCache> {
    return new ImageCache(options, await CacheFolder.open(options.folder, options.clock))
  }

  /**
   * Returns an image; fetches and checks it first when it is not cached. Asks the server for a newer version unless the
   * asset has a digest. A server without ETag and Last-Modified must send the whole image every time.
   *
   * @throws UserError: image-refused, image-unreachable, image-is-page, image-too-large, image-too-short, image-digest, image-signature,
   *   image-damaged, cache-full; the signal's reason
   */
  async get(asset: ImageAsset, options: StageAssetOptions): Promise<CachedImage> {
    const name = JSON.stringify([asset.url, asset.sha256, asset.signature])
    for (;;) {
      const { sha256: found } = await this.#shared.join(
        name,
        (signal, progress) => this.#roomFor(() => this.#obtain(asset, this.#httpOf(options), signal, progress)),
        options,
      )
      const use = await takeLock(this.#imageLock(found), 'shared', { ...this.#options, signal: options.signal })
      // Before the lock another process may have replaced or deleted it.
      const record = await this.#folder.image(found)
      if (record && (await this.#checks.isIntact(record, options).catch((error: unknown) => rethrown(error, use)))) {
        await this.#folder.used(found)
        return { path: this.#folder.bytesOf(record), record, [Symbol.asyncDispose]: async () => use[Symbol.dispose]() }
      }
      use[Symbol.dispose]()
      if (record) await this.#fetchAgain(record)
    }
  }

  /** Deletes a damaged image; while others use it only its record, so that its file stays until the next one is there. */
  async #fetchAgain(record: ImageRecord): Promise<void> {
    const { logger } = this.#options
    logger('warn', `the cached image ${record.sources[0] ?? record.sha256} is damaged: it is fetched again`)
    if (!(await this.#drop(record))) await this.#folder.forget(record.sha256)
  }

  /** All images, the least recently used first. */
  async list(): Promise<ImageEntry[]> {
    const images = await this.#folder.images()
    const entryOf = async ({ record, used }: { record: ImageRecord; used: number }) => {
      const size = await this.#folder.storedSize(record)
      return { record, used, size, path: this.#folder.bytesOf(record) }
    }
    return Promise.all(images.map(entryOf))
  }

  /** Deletes abandoned downloads, and the least recently used images beyond `limit` bytes. */
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
   * Reads every image again and deletes damaged ones.
   *
   * @param onImage called with each image and whether it is intact
   */
  async verify(onImage: (entry: ImageEntry, whole: boolean) => void, signal: AbortSignal): Promise<void> {
    const { clock } = this.#options
    for (const entry of await this.list()) {
      const { record, path } = entry
      const whole = await hasItsDigest(path, record, { clock, signal }).catch((error: unknown) => {
        signal.throwIfAborted()
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false
        throw error
      })
      if (!whole) await this.#drop(record)
      onImage(entry, whole)
    }
  }

  #imageLock(sha256: string): string {
    return this.#folder.lockOf(`image-${sha256}`)
  }

  /** Held by the one who changes an image's record. */
  #recordLock({ sha256 }: ImageRecord, signal: AbortSignal) {
    return takeLock(this.#folder.lockOf(`make-${sha256}`), 'exclusive', { clock: this.#options.clock, signal })
  }

  /** The requests of those that join a download are those of the one that began it. */
  #httpOf({ through }: StageAssetOptions): HttpClient {
    return through ? new HttpClient({ ...this.#options, through }) : this.#http
  }

  async #obtain(
    asset: ImageAsset,
    http: HttpClient,
    signal: AbortSignal,
    onProgress: (received: number, total: number | null) => void,
  ): Promise<ImageRecord> {
    const { clock, logger, attempts } = this.#options
    const { url, sha256 } = asset
    const key = CacheFolder.keyOf(url)
    const byDigest = sha256 === null ? null : await this.#cached(sha256, asset)
    if (byDigest) return this.#ready(byDigest, signal)
    const onWait = () => logger('warn', `another process fetches ${maskedUrl(url)}: waiting for it`)
    using _ = await takeLock(this.#folder.lockOf(`url-${key}`), 'exclusive', { clock, signal, onWait })
    const after = sha256 === null ? null : await this.#cached(sha256, asset)
    if (after) return await this.#ready(after, signal)
    const last = await this.#folder.url(key)
    const atHand = last && isKnownBy(last) ? await this.#cached(last.sha256, asset) : null
    const got = await downloadFile({
      http,
      url,
      path: this.#folder.partialOf(key),
      partial: await this.#folder.partial(key),
      atHand: atHand && last,
      clock,
      logger,
      signal,
      onProgress,
      ...defined({ attempts }),
      largest: this.#limit,
      onVersion: (version) => this.#folder.keepPartial(key, version),
    })
    if (got.kind === 'unchanged') {
      await this.#folder.dropPartial(key)
      return await this.#ready(atHand!, signal)
    }
    const record = await this.#check(asset, key, got, { http, signal })
    // The download has counted the bytes.
    if (await this.#folder.add(key, record)) await this.#checks.passed(record)
    const link: UrlRecord = { ...got.validators, sha256: got.sha256 }
    await this.#folder.keepUrl(key, link)
    logger('info', `fetched ${maskedUrl(url)}`, { size: got.size, digest: got.sha256, ...record.verified })
    const ready = await this.#ready(await this.#merged(record, signal), signal)
    await this.#shrink(this.#limit, got.sha256)
    return ready
  }

  /** Merges a record with an earlier one of the same image: all checks that it ever passed, and all its sources. */
  async #merged(record: ImageRecord, signal: AbortSignal): Promise<ImageRecord> {
    // Another URL may have led to the same image, which is recompressed at this moment: its new record must not be lost.
    using _ = await this.#recordLock(record, signal)
    // In use meanwhile: what tidies or deletes the image would take the new record away while it is written.
    using _use = await takeLock(this.#imageLock(record.sha256), 'shared', { ...this.#options, signal })
    const stored = (await this.#folder.image(record.sha256)) ?? record
    const verified = {
      sha256: stored.verified.sha256 || record.verified.sha256,
      signed: record.verified.signed ?? stored.verified.signed,
      whole: stored.verified.whole || record.verified.whole,
    }
    const merged = { ...stored, verified, sources: [...new Set([...stored.sources, ...record.sources])] }
    if (!isDeepStrictEqual(merged, stored)) await this.#folder.keepImage(merged)
    return merged
  }

  /** Record of a cached image, if it satisfies the asset. */
  async #cached(sha256: string, asset: ImageAsset): Promise<ImageRecord | null> {
    if (asset.sha256 !== null && asset.sha256 !== sha256) return null
    const record = await this.#folder.image(sha256)
    if (!record || !(await this.#folder.isThere(record))) return null
    return asset.signature === 'required' && !record.verified.signed ? null : record
  }

  /** Checks a download in every way possible. A download that fails a check is deleted. */
  async #check(
    asset: ImageAsset,
    key: string,
    { sha256, size }: { sha256: string; size: number },
    { http, signal }: { http: HttpClient; signal: AbortSignal },
  ): Promise<ImageRecord> {
    const { clock } = this.#options
    const path = this.#folder.partialOf(key)
    const shown = maskedUrl(asset.url)
    try {
      const kind = await kindOfFile(path, clock)
      if (asset.of !== 'anything') refuseShort(kind, size, shown)
      if (asset.sha256 !== null && asset.sha256 !== sha256) throw wrongDigest(shown, asset.sha256, sha256)
      const signed = await this.#signed(asset, path, { http, signal })
      const vouched = asset.sha256 !== null || signed !== null
      // Without a digest or signature its own checksums must do: half an image is refused before a disk is written. The
      // same bytes need not be read through twice: a server without ETag sends them again each time.
      if (!vouched && kind !== 'raw' && !(await this.#knownWhole(sha256)))
        await readThrough(this.#options.contents(path), shown, signal)
      return {
        sha256,
        size,
        kind,
        sources: [shown],
        fetched: Math.round(clock.now() / 1000),
        transcoded: null,
        verified: { sha256: asset.sha256 !== null, signed, whole: !vouched && kind !== 'raw' },
      }
    } catch (error) {
      if (!signal.aborted) await this.#folder.dropPartial(key)
      throw error
    }
  }

  /** Whether an image of this digest was decompressed to its end before. */
  async #knownWhole(sha256: string): Promise<boolean> {
    const stored = await this.#folder.image(sha256)
    return stored !== null && (stored.verified.whole || stored.transcoded !== null)
  }

  async #signed(
    asset: ImageAsset,
    path: string,
    { http, signal }: { http: HttpClient; signal: AbortSignal },
  ): Promise<Signed | null> {
    const { clock, logger, trusted = [] } = this.#options
    const signature = await fetchSignature(asset, { http, clock, logger, signal })
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

  /** The image in the configured format; recompresses it if necessary. */
  async #ready(record: ImageRecord, signal: AbortSignal): Promise<ImageRecord> {
    const { clock, logger, contents } = this.#options
    if (this.#isReady(record)) return record
    using _ = await this.#recordLock(record, signal)
    const now = (await this.#folder.image(record.sha256)) ?? record
    if (this.#isReady(now)) return now
    using use = await takeLock(this.#imageLock(record.sha256), 'shared', { clock, signal })
    // A damaged one is left to be fetched again.
    if (!(await this.#checks.isIntact(now, { signal }))) return now
    const since = clock.elapsed()
    let made: ImageRecord
    try {
      const transcode = this.#options.as === 'raw' ? transcodeToRaw : transcodeToZstd
      const form = await transcode({
        contents: contents(this.#folder.bytesOf(now)),
        path: this.#folder.newFormOf(now),
        clock,
        signal,
      })
      made = await this.#folder.replace(now, form)
    } catch (error) {
      signal.throwIfAborted()
      if (isDiskFull(error)) throw error
      use[Symbol.dispose]()
      await this.#drop(record)
      throw imageDamagedError(record.sources[0] ?? record.sha256, error)
    }
    logger('info', `${record.sources[0] ?? record.sha256} is stored as ${this.#options.as}`, {
      of: record.sha256,
      contents: made.transcoded?.contents.sha256,
      sha256: fileOf(made).sha256,
      size: fileOf(made).size,
      seconds: Math.round((clock.elapsed() - since) / 1000),
    })
    use[Symbol.dispose]()
    await this.#tidy(made)
    return made
  }

  /** Whether a cached image has the configured format. */
  #isReady(record: ImageRecord): boolean {
    const form = formOf(record)
    switch (this.#options.as ?? 'fetched') {
      case 'fetched':
        return true
      case 'zstd':
        return form === 'zst' || record.kind === 'raw'
      case 'raw':
        return form === 'raw'
    }
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

/** Throws the error once the lock is released. */
function rethrown(error: unknown, lock: Disposable): never {
  lock[Symbol.dispose]()
  throw error
}
