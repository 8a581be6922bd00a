import { mkdtemp, readdir, readFile, readlink, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { systemClock } from '../../runtime/index.js'
import { rhelStream } from '../../test/kit/streams.js'
import { pinnedStream, publishStream, type StreamFolder } from './stream-folder.js'

let shelf: StreamFolder
beforeEach(async () => {
  const folder = await mkdtemp(join(tmpdir(), 'ironstage-shelf-'))
  shelf = { folder, name: 'stream-4.8', clock: systemClock() }
})
afterEach(() => rm(shelf.folder, { recursive: true, force: true }))

const march = rhelStream({ version: '48.83.202003250316-0', now: '2020-03-25T04:00:00Z', name: 'rhcos-4.8' })
const april = rhelStream({ version: '48.83.202004010316-0', now: '2020-04-01T04:00:00Z', name: 'rhcos-4.8' })

describe('row 34: dated copies of a stream, and the latest', () => {
  test('each publication stays, and the alias leads to the last', async () => {
    await publishStream(shelf, march)
    await publishStream(shelf, april)
    expect((await readdir(shelf.folder)).sort()).toEqual([
      'stream-4.8-20200325.json',
      'stream-4.8-20200401.json',
      'stream-4.8.json',
    ])
    expect(await readlink(join(shelf.folder, 'stream-4.8.json'))).toBe('stream-4.8-20200401.json')
    expect((await pinnedStream(shelf)).stream).toEqual(april)
    expect((await pinnedStream(shelf, { date: '20200325' })).stream).toEqual(march)
  })

  test('what was pinned is found again by its date, and is known by its digest', async () => {
    const { sha256 } = await publishStream(shelf, march)
    await publishStream(shelf, april)
    expect((await pinnedStream(shelf, { date: '20200325', sha256 })).stream).toEqual(march)
    await expect(pinnedStream(shelf, { date: '20200401', sha256 })).rejects.toThrow(
      /is not as it was pinned: expected=/,
    )
    await expect(pinnedStream(shelf, { date: '20200101' })).rejects.toThrow(/there is no .*stream-4\.8-20200101\.json/)
  })

  test('a copy never changes: the same again is nothing, another of the day has its time', async () => {
    const { path } = await publishStream(shelf, march)
    const text = await readFile(path, 'utf8')
    await publishStream(shelf, march)
    const later = { ...march, metadata: { 'last-modified': '2020-03-25T16:00:01Z' } }
    expect((await publishStream(shelf, later)).path).toMatch(/stream-4\.8-20200325160001\.json$/)
    expect(await readFile(path, 'utf8')).toBe(text)
    const forged = { ...later, stream: 'rhcos-4.9' }
    await expect(publishStream(shelf, forged)).rejects.toMatchObject({ code: 'stream-published' })
  })

  test.each([
    [
      'an older time',
      { ...april, metadata: march.metadata },
      /it is of 2020-03-25T04:00:00Z, and the latest is of 2020-04/,
    ],
    [
      'an older release',
      { ...march, metadata: { 'last-modified': '2021-01-01T00:00:00Z' } },
      /would be 48.83.202003250316-0/,
    ],
  ])('a stream does not go back in time: %s', async (_, stream, message) => {
    await publishStream(shelf, april)
    await expect(publishStream(shelf, stream)).rejects.toThrow(message)
    expect((await pinnedStream(shelf)).stream).toEqual(april)
  })

  test('no stream gets onto the shelf that is none', async () => {
    await expect(publishStream(shelf, { ...march, stream: '' })).rejects.toMatchObject({ code: 'metadata-schema' })
    expect(await readdir(shelf.folder)).toEqual([])
  })
})
