import { sha256Hex } from '../../base/bytes/index.js'
import { mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { SchemaCompiler, type SchemaCheck } from '../../base/schemas/index.js'
import { withClockHeld, makeFolder, replaceFile, UserError, type Clock } from '../../base/runtime/index.js'
import type { DownloadValidators } from './download-file.js'
import type { ImageKind } from './image-kind.js'
import type { Signed } from './image-signature.js'
import type { Transcoded } from './transcode.js'

/** Record of a cached image. */
export interface ImageRecord {
  /** SHA-256 of the fetched bytes, hex; also the image's name in the cache. */
  sha256: string
  size: number
  kind: ImageKind
  /** URLs that it came from, secrets masked. */
  sources: string[]
  /** Seconds since 1970. */
  fetched: number
  /** Checks that it passed; `whole`: it decompresses to its end. */
  verified: { sha256: boolean; signed: Signed | null; whole: boolean }
  /** File in another format that has replaced the fetched bytes; null for the fetched bytes. */
  transcoded: Transcoded | null
}

/** Format of the file in the cache. */
export const formOf = ({ kind, transcoded }: ImageRecord): ImageKind =>
  transcoded === null ? kind : 'as' in transcoded ? transcoded.as : 'zst'

/** Digest and size of the file in the cache. */
export const fileOf = (record: ImageRecord): { sha256: string; size: number } =>
  record.transcoded === null ? record : 'as' in record.transcoded ? record.transcoded.contents : record.transcoded

/** Name of the file in the cache: `image.raw.xz`. */
export function fileNameOf(record: ImageRecord): string {
  const form = formOf(record)
  return form === 'raw' ? 'image.raw' : `image.raw.${form}`
}

/** Image that a URL led to at its last fetch. */
export interface UrlRecord extends DownloadValidators {
  sha256: string
}

/** Version of the layout; increased when an older ironstage could not read a newer one. */
const CACHE_LAYOUT = 'ironstage image cache 1\n'
/** Backup programs skip folders with this file (https://bford.info/cachedir/). */
const CACHE_TAG = 'Signature: 8a477f597d28d172789f06886806bc55\n# Images that ironstage fetched; made by ironstage.\n'

/**
 * Folder of the image cache: `images/SHA256/` has `record.json` and the bytes, `urls/` has the image of each URL, `partial/`
 * has unfinished downloads, and `locks/` has the locks of users. Every file in its place is complete: it is written aside
 * and then renamed.
 */
export class CacheFolder {
  private constructor(
    readonly path: string,
    readonly clock: Clock,
  ) {}

  /** @throws UserError when the folder cannot be created, or holds other files */
  static async open(path: string, clock: Clock): Promise<CacheFolder> {
    return withClockHeld(clock, 'opening the image cache', async () => {
      try {
        await makeFolder(path, 0o700)
        const version = await readFile(join(path, 'VERSION'), 'utf8').catch(absent)
        if (version === undefined) {
          if ((await readdir(path)).length > 0) throw foreign(path)
          for (const folder of ['images', 'urls', 'partial', 'locks']) await makeFolder(join(path, folder), 0o700)
          await writeFile(join(path, 'CACHEDIR.TAG'), CACHE_TAG)
          await writeFile(join(path, 'VERSION'), CACHE_LAYOUT)
        } else if (version !== CACHE_LAYOUT) throw foreign(path)
      } catch (cause) {
        if (cause instanceof UserError) throw cause
        throw new UserError('image-cache', `the image cache ${path} cannot be used`, {
          cause,
          remedy:
            'name a folder that you may write with --cache-dir; where a command has --no-cache, that does without one',
        })
      }
      return new CacheFolder(path, clock)
    })
  }

  /** Name of a URL in the cache, which shows none of its secrets. */
  static keyOf = (url: string): string => sha256Hex(url).slice(0, 32)

  lockOf = (name: string): string => join(this.path, 'locks', name)
  partialOf = (key: string): string => join(this.path, 'partial', key)
  bytesOf = (record: ImageRecord): string => join(this.path, 'images', record.sha256, fileNameOf(record))
  /** Path where a new format of an image is written, before it takes its place. */
  newFormOf = ({ sha256 }: ImageRecord): string => join(this.path, 'images', sha256, 'new')

  image(sha256: string): Promise<ImageRecord | null> {
    return this.#read(join(this.path, 'images', sha256, 'record.json'), imageRecord)
  }

  url(key: string): Promise<UrlRecord | null> {
    return this.#read(join(this.path, 'urls', `${key}.json`), urlRecord)
  }

  keepUrl(key: string, record: UrlRecord): Promise<void> {
    return this.#write(join(this.path, 'urls', `${key}.json`), record)
  }

  /** Version of the file that a partial download belongs to. */
  partial(key: string): Promise<DownloadValidators | null> {
    return this.#read(join(this.path, 'partial', `${key}.json`), versionRecord)
  }

  keepPartial(key: string, validators: DownloadValidators): Promise<void> {
    return this.#write(join(this.path, 'partial', `${key}.json`), validators)
  }

  async dropPartial(key: string): Promise<void> {
    await this.#held('deleting what was fetched', async () => {
      for (const path of [this.partialOf(key), `${this.partialOf(key)}.json`]) await rm(path, { force: true })
    })
  }

  /** Moves a finished download to its place, under its digest; false when the image is there already. */
  add(key: string, record: ImageRecord): Promise<boolean> {
    return this.#held('keeping an image', async () => {
      let added = true
      const aside = `${this.partialOf(key)}.d`
      await rm(aside, { recursive: true, force: true })
      await mkdir(aside, { mode: 0o700 })
      await writeFile(join(aside, 'record.json'), JSON.stringify(record))
      await rename(this.partialOf(key), join(aside, fileNameOf(record)))
      try {
        await rename(aside, join(this.path, 'images', record.sha256))
      } catch (error) {
        // Meanwhile another URL led to the same image, a process was killed while it deleted the image, or its file is gone.
        const stored = await this.image(record.sha256)
        added = !stored || !(await this.isThere(stored))
        if (added) {
          if ((error as NodeJS.ErrnoException).code !== 'ENOTEMPTY') throw error
          await rm(join(this.path, 'images', record.sha256), { recursive: true, force: true })
          await rename(aside, join(this.path, 'images', record.sha256))
        }
        await rm(aside, { recursive: true, force: true })
      }
      await rm(`${this.partialOf(key)}.json`, { force: true })
      return added
    })
  }

  keepImage(record: ImageRecord): Promise<void> {
    return this.#write(join(this.path, 'images', record.sha256, 'record.json'), record)
  }

  /** Replaces the bytes of an image by another format. */
  async replace(record: ImageRecord, transcoded: Transcoded): Promise<ImageRecord> {
    const made = { ...record, transcoded }
    await this.#held('keeping an image', async () => {
      await rename(this.newFormOf(record), this.bytesOf(made))
      await this.keepImage(made)
    })
    return made
  }

  /** Deletes replaced and unfinished formats of an image. */
  async tidy(record: ImageRecord): Promise<void> {
    const folder = join(this.path, 'images', record.sha256)
    const keep = new Set(['record.json', basename(this.bytesOf(record))])
    await this.#held('tidying an image', async () => {
      for (const name of await readdir(folder)) if (!keep.has(name)) await rm(join(folder, name), { force: true })
    })
  }

  async remove(sha256: string): Promise<void> {
    await this.#held('deleting an image', async () => {
      const folder = join(this.path, 'images', sha256)
      // The record goes first: without one there is no image.
      await rm(join(folder, 'record.json'), { force: true })
      await rm(folder, { recursive: true, force: true })
    })
  }

  /** Deletes the record of an image only: its file stays for those that read it, and the next user fetches it again. */
  async forget(sha256: string): Promise<void> {
    await this.#held('deleting the record of an image', () =>
      rm(join(this.path, 'images', sha256, 'record.json'), { force: true }),
    )
  }

  async used(sha256: string): Promise<void> {
    const now = this.clock.now() / 1000
    await this.#held('noting the use of an image', () =>
      utimes(join(this.path, 'images', sha256, 'record.json'), now, now).catch(() => {}),
    )
  }

  /** All images with the time of their last use, in seconds since 1970; the least recently used first. */
  async images(): Promise<{ record: ImageRecord; used: number }[]> {
    return this.#held('listing images', async () => {
      const images = []
      for (const sha256 of await readdir(join(this.path, 'images'))) {
        const record = await this.image(sha256)
        if (!record) continue
        const about = await stat(join(this.path, 'images', sha256, 'record.json')).catch(absent)
        images.push({ record, used: Math.round((about?.mtimeMs ?? 0) / 1000) })
      }
      return images.sort((a, b) => a.used - b.used || (a.record.sha256 < b.record.sha256 ? -1 : 1))
    })
  }

  /** Keys and sizes of partial downloads. */
  async partials(): Promise<{ key: string; size: number }[]> {
    return this.#held('listing what was fetched', async () => {
      const names = (await readdir(join(this.path, 'partial'))).filter((name) => /^[0-9a-f]+$/.test(name))
      const sizes = names.map(async (key) => ({
        key,
        size: (await stat(this.partialOf(key)).catch(absent))?.size ?? 0,
      }))
      return Promise.all(sizes)
    })
  }

  /** Whether the file exists with the size in its record. */
  async isThere(record: ImageRecord): Promise<boolean> {
    return (await this.identity(record)) !== null
  }

  /** Differs after every change of an image's file; null unless it has the size in its record. */
  async identity(record: ImageRecord): Promise<string | null> {
    const path = this.bytesOf(record)
    const about = await this.#held('looking at an image', () => stat(path).catch(absent))
    if (about?.size !== fileOf(record).size) return null
    return [path, about.dev, about.ino, about.mtimeMs, about.ctimeMs].join('\0')
  }

  /** Bytes that the file of an image takes on the disk. */
  async storedSize(record: ImageRecord): Promise<number> {
    const { size } = fileOf(record)
    if (record.transcoded === null || formOf(record) !== 'raw') return size
    const about = await this.#held('looking at an image', () => stat(this.bytesOf(record)).catch(absent))
    return Math.min(size, (about?.blocks ?? 0) * 512)
  }

  #held<T>(why: string, work: () => Promise<T>): Promise<T> {
    return withClockHeld(this.clock, why, work)
  }

  /** Null for a missing or damaged file, since a cache can be filled again. */
  async #read<T>(path: string, check: SchemaCheck<T>): Promise<T | null> {
    const text = await this.#held('reading the image cache', () => readFile(path, 'utf8').catch(absent))
    if (text === undefined) return null
    try {
      const value: unknown = JSON.parse(text)
      return check.accepts(value) ? value : null
    } catch {
      return null
    }
  }

  async #write(path: string, value: object): Promise<void> {
    await this.#held('writing to the image cache', () => replaceFile(path, JSON.stringify(value)))
  }
}

function absent(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT' && error.code !== 'ENOTDIR') throw error
}

const foreign = (path: string): UserError =>
  new UserError('foreign-folder', `${path} is not an image cache of this ironstage`, {
    remedy: 'name an empty or a new folder with --cache-dir',
    kind: 'usage',
  })

const recordSchemas = new SchemaCompiler({ stopsAtFirst: true })
const objectOf = (properties: object) => ({ type: 'object', properties, required: Object.keys(properties) })
const orNull = (schema: object) => ({ anyOf: [schema, { type: 'null' }] })
const text = { type: 'string' }
const number = { type: 'number' }
const yesOrNo = { type: 'boolean' }
const digest = { type: 'string', pattern: '^[0-9a-f]{64}$' }
const version = { etag: { type: ['string', 'null'] }, lastModified: { type: ['string', 'null'] } }
const form = { sha256: digest, size: number }

const versionRecord = recordSchemas.check<DownloadValidators>(objectOf(version))
const urlRecord = recordSchemas.check<UrlRecord>(objectOf({ ...version, sha256: digest }))
const imageRecord = recordSchemas.check<ImageRecord>(
  objectOf({
    ...form,
    kind: { enum: ['raw', 'gz', 'xz', 'zst'] },
    fetched: number,
    sources: { type: 'array', items: text },
    verified: objectOf({
      sha256: yesOrNo,
      whole: yesOrNo,
      signed: orNull(objectOf({ by: text, fingerprint: text })),
    }),
    transcoded: {
      anyOf: [
        objectOf({ ...form, contents: objectOf(form) }),
        objectOf({ as: { const: 'raw' }, blocks: digest, contents: objectOf(form) }),
        { type: 'null' },
      ],
    },
  }),
)
