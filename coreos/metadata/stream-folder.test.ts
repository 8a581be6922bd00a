import { mkdtemp, readdir, readFile, readlink, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { systemClock } from '../../base/runtime/index.js'
import { rhelStream } from '../../test/kit/streams.js'
import { pinnedStream, publishStream, type StreamFolder } from './stream-folder.js'

let streamFolder: StreamFolder
beforeEach(async () => {
  const folder = await mkdtemp(join(tmpdir(), 'ironstage-streamFolder-'))
  streamFolder = { folder, name: 'stream-4.8', clock: systemClock() }
})
afterEach(() => rm(streamFolder.folder, { recursive: true, force: true }))

const march = rhelStream({ version: '48.83.202003250316-0', now: '2020-03-25T04:00:00Z', name: 'rhcos-4.8' })
const april = rhelStream({ version: '48.83.202004010316-0', now: '2020-04-01T04:00:00Z', name: 'rhcos-4.8' })

describe('row 34: dated copies of a stream, and the latest', () => {
  test('each publication stays, and the link points to the last one', async () => {
    await publishStream(streamFolder, march)
    await publishStream(streamFolder, april)
    expect((await readdir(streamFolder.folder)).sort()).toEqual([
      'stream-4.8-20200325.json',
      'stream-4.8-20200401.json',
      'stream-4.8.json',
    ])
    expect(await readlink(join(streamFolder.folder, 'stream-4.8.json'))).toBe('stream-4.8-20200401.json')
    expect((await pinnedStream(streamFolder)).stream).toEqual(april)
    expect((await pinnedStream(streamFolder, { date: '20200325' })).stream).toEqual(march)
  })

  test('a pinned stream is found by its date, and verified by its digest', async () => {
    const { sha256 } = await publishStream(streamFolder, march)
    await publishStream(streamFolder, april)
    expect((await pinnedStream(streamFolder, { date: '20200325', sha256 })).stream).toEqual(march)
    await expect(pinnedStream(streamFolder, { date: '20200401', sha256 })).rejects.toThrow(
      /differs from its pinned digest: expected=/,
    )
    await expect(pinnedStream(streamFolder, { date: '20200101' })).rejects.toThrow(
      /there is no .*stream-4\.8-20200101\.json/,
    )
  })

  test('a copy never changes: publishing it again has no effect, another one of the day is named by its time', async () => {
    const { path } = await publishStream(streamFolder, march)
    const text = await readFile(path, 'utf8')
    await publishStream(streamFolder, march)
    const later = { ...march, metadata: { 'last-modified': '2020-03-25T16:00:01Z' } }
    expect((await publishStream(streamFolder, later)).path).toMatch(/stream-4\.8-20200325160001\.json$/)
    expect(await readFile(path, 'utf8')).toBe(text)
    const forged = { ...later, stream: 'rhcos-4.9' }
    await expect(publishStream(streamFolder, forged)).rejects.toMatchObject({ code: 'stream-published' })
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
    await publishStream(streamFolder, april)
    await expect(publishStream(streamFolder, stream)).rejects.toThrow(message)
    expect((await pinnedStream(streamFolder)).stream).toEqual(april)
  })

  test('an invalid stream is not published', async () => {
    await expect(publishStream(streamFolder, { ...march, stream: '' })).rejects.toMatchObject({
      code: 'metadata-schema',
    })
    expect(await readdir(streamFolder.folder)).toEqual([])
  })
})
