import { createHash } from 'node:crypto'
import { mkdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { held, UserError, type Clock } from '../../runtime/index.js'
import { documentText } from './document.js'
import { STREAM, type Stream } from './stream.js'
import { compareVersions } from './versions.js'

/** A stream in a folder: dated copies that never change, and an alias for the latest, `NAME.json` (004). */
export interface StreamFolder {
  folder: string
  /** As in `stream-4.8`, whose copies are `stream-4.8-20200325.json`. */
  name: string
  clock: Clock
}

export interface Pinned {
  path: string
  stream: Stream
  /** Of the document. */
  sha256: string
}

/**
 * Puts a stream beside its earlier versions and lets the alias name it. The same one again changes nothing.
 *
 * @throws UserError `stream-back-in-time` for one that is older than the latest, or has an older release
 */
export async function publishStream(shelf: StreamFolder, stream: Stream): Promise<Pinned> {
  const { folder, name, clock } = shelf
  const text = documentText(STREAM.check(stream, `the stream ${stream.stream}`))
  const latest = await pinnedStream(shelf).catch((error: unknown) => {
    if (error instanceof UserError && error.code === 'stream-unpublished') return null
    throw error
  })
  if (latest) refuseBackInTime(latest.stream, stream)
  return held(clock, `publishing ${name} in ${folder}`, async () => {
    await mkdir(folder, { recursive: true })
    const file = await datedCopy(shelf, stream, text)
    const alias = join(folder, `.${name}.new`)
    await rm(alias, { force: true })
    await symlink(file, alias)
    await rename(alias, join(folder, `${name}.json`))
    return { path: join(folder, file), stream, sha256: digestOf(text) }
  })
}

/** By the day; a second one of a day by the second. */
async function datedCopy({ folder, name }: StreamFolder, stream: Stream, text: string): Promise<string> {
  const time = new Date(stream.metadata['last-modified']).toISOString().replace(/\D/g, '').slice(0, 14)
  for (const date of [time.slice(0, 8), time]) {
    const file = `${name}-${date}.json`
    const path = join(folder, file)
    const there = await readFile(path, 'utf8').catch(() => null)
    if (there === text) return file
    if (there !== null) continue
    await writeFile(path, text, { flag: 'wx', mode: 0o444 })
    return file
  }
  throw new UserError(
    'stream-published',
    `${name} of ${stream.metadata['last-modified']} is published with other content`,
    {
      remedy: 'a published copy never changes: give it another last-modified time',
    },
  )
}

/**
 * The latest, or the copy of a date, with the digest that somebody may have pinned with it.
 *
 * @throws UserError `stream-unpublished`; `stream-changed` for a copy that is not as it was pinned
 */
export async function pinnedStream(shelf: StreamFolder, pin: { date?: string; sha256?: string } = {}): Promise<Pinned> {
  const { folder, name, clock } = shelf
  const path = join(folder, pin.date === undefined ? `${name}.json` : `${name}-${pin.date}.json`)
  const text = await held(clock, `reading ${path}`, () =>
    readFile(path, 'utf8').catch((cause: NodeJS.ErrnoException) => {
      if (cause.code !== 'ENOENT') throw cause
      throw new UserError('stream-unpublished', `there is no ${path}`, {
        cause,
        remedy: 'publish the stream (ironstage stream publish), or name the date of a copy that is there',
        kind: 'usage',
      })
    }),
  )
  const sha256 = digestOf(text)
  if (pin.sha256 !== undefined && pin.sha256 !== sha256)
    throw new UserError('stream-changed', `${path} is not as it was pinned: expected=${pin.sha256} found=${sha256}`, {
      remedy: 'take the copy from where it was pinned',
    })
  return { path, stream: STREAM.read(text, path), sha256 }
}

const back = (stream: Stream, what: string): UserError =>
  new UserError('stream-back-in-time', `the stream ${stream.stream} goes back in time: ${what}`, {
    remedy: 'use a newer stream; pin the dated copy of an older one',
  })

/**
 * A stream may take back a release, but only with a later time of its own.
 *
 * @throws UserError `stream-back-in-time`
 */
export function refuseOlderStream(latest: Stream, next: Stream): void {
  const [then, now] = [latest, next].map(({ metadata }) => metadata['last-modified']) as [string, string]
  if (Date.parse(now) < Date.parse(then)) throw back(next, `it is of ${now}, and the latest is of ${then}`)
}

/** @throws UserError `stream-back-in-time` */
export function refuseBackInTime(latest: Stream, next: Stream): void {
  refuseOlderStream(latest, next)
  for (const [architecture, { artifacts }] of Object.entries(next.architectures)) {
    const release = artifacts['metal']?.release
    const before = latest.architectures[architecture]?.artifacts['metal']?.release
    if (release !== undefined && before !== undefined && release !== before && compareVersions(release, before) < 0)
      throw back(next, `${architecture} would be ${release}, and the latest is ${before}`)
  }
}

const digestOf = (text: string): string => createHash('sha256').update(text).digest('hex')
