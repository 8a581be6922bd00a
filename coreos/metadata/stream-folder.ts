import { sha256Hex } from '../../base/bytes/index.js'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import {
  withClockHeld,
  makeFolder,
  replaceLink,
  UserError,
  type Clock,
  readNamedText,
} from '../../base/runtime/index.js'
import { documentText } from './metadata-document.js'
import { STREAM_KIND, type StreamMetadata } from './stream-metadata.js'
import { compareVersions } from './coreos-versions.js'
import { ERRORS } from '../errors.js'

/** A stream in a folder: dated copies that never change, and the link `NAME.json` to the latest. */
export interface StreamFolder {
  folder: string
  /** Name such as `stream-4.8`, with copies such as `stream-4.8-20200325.json`. */
  name: string
  clock: Clock
}

export interface Pinned {
  path: string
  stream: StreamMetadata
  /** SHA-256 of the document. */
  sha256: string
}

/**
 * Adds a stream to the folder and points the link to it. Publishing the same stream again changes nothing.
 *
 * @throws UserError `stream-back-in-time` for a stream that is older than the latest, or has an older release
 */
export async function publishStream(streamFolder: StreamFolder, stream: StreamMetadata): Promise<Pinned> {
  const { folder, name, clock } = streamFolder
  const text = documentText(STREAM_KIND.check(stream, `the stream ${stream.stream}`))
  const latest = await pinnedStream(streamFolder).catch((error: unknown) => {
    if (error instanceof UserError && error.code === 'stream-unpublished') return null
    throw error
  })
  if (latest) refuseBackInTime(latest.stream, stream)
  return withClockHeld(clock, `publishing ${name} in ${folder}`, async () => {
    await makeFolder(folder)
    const file = await datedCopy(streamFolder, stream, text)
    await replaceLink(file, join(folder, `${name}.json`))
    return { path: join(folder, file), stream, sha256: sha256Hex(text) }
  })
}

/** Writes a copy that is named by its day; a second one of the same day has the time too. */
async function datedCopy({ folder, name }: StreamFolder, stream: StreamMetadata, text: string): Promise<string> {
  const time = new Date(stream.metadata['last-modified']).toISOString().replace(/\D/g, '').slice(0, 14)
  for (const date of [time.slice(0, 8), time]) {
    const file = `${name}-${date}.json`
    const path = join(folder, file)
    const there = await readNamedText(path).catch(() => null)
    if (there === text) return file
    if (there !== null) continue
    await writeFile(path, text, { flag: 'wx', mode: 0o444 }).catch(async (error: NodeJS.ErrnoException) => {
      // Half a copy would stand for the stream of that day for good.
      if (error.code !== 'EEXIST') await rm(path, { force: true })
      throw error
    })
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
 * Reads the latest stream or the copy of a date, and checks the pinned digest.
 *
 * @throws UserError `stream-unpublished`; `stream-changed` for a copy with another digest
 */
export async function pinnedStream(
  streamFolder: StreamFolder,
  pin: { date?: string; sha256?: string } = {},
): Promise<Pinned> {
  const { folder, name, clock } = streamFolder
  const path = join(folder, pin.date === undefined ? `${name}.json` : `${name}-${pin.date}.json`)
  const text = await withClockHeld(clock, `reading ${path}`, () =>
    readNamedText(path).catch((cause: NodeJS.ErrnoException) => {
      if (cause.code !== 'ENOENT') throw cause
      throw new UserError('stream-unpublished', `there is no ${path}`, {
        cause,
        remedy: 'publish the stream (ironstage stream publish), or name the date of an existing copy',
        kind: 'usage',
      })
    }),
  )
  const sha256 = sha256Hex(text)
  if (pin.sha256 !== undefined && pin.sha256 !== sha256)
    throw new UserError(
      'stream-changed',
      `${path} differs from its pinned digest: expected=${pin.sha256} found=${sha256}`,
      {
        remedy: ERRORS['stream-changed'].remedy,
      },
    )
  return { path, stream: STREAM_KIND.read(text, path), sha256 }
}

const back = (stream: StreamMetadata, what: string): UserError =>
  new UserError('stream-back-in-time', `the stream ${stream.stream} goes back in time: ${what}`, {
    remedy: 'use a newer stream; pin the dated copy of an older one',
  })

/**
 * Refuses a stream with an earlier time. A stream with a later time may have an older release.
 *
 * @throws UserError `stream-back-in-time`
 */
export function refuseOlderStream(latest: StreamMetadata, next: StreamMetadata): void {
  const [then, now] = [latest, next].map(({ metadata }) => metadata['last-modified']) as [string, string]
  if (Date.parse(now) < Date.parse(then)) throw back(next, `it is of ${now}, and the latest is of ${then}`)
}

/** @throws UserError `stream-back-in-time` */
export function refuseBackInTime(latest: StreamMetadata, next: StreamMetadata): void {
  refuseOlderStream(latest, next)
  for (const [architecture, { artifacts }] of Object.entries(next.architectures)) {
    const release = artifacts['metal']?.release
    const before = latest.architectures[architecture]?.artifacts['metal']?.release
    if (release !== undefined && before !== undefined && release !== before && compareVersions(release, before) < 0)
      throw back(next, `${architecture} would be ${release}, and the latest is ${before}`)
  }
}
