import { appendFile, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { RecordingExchange } from './recording-exchange.js'
import { readRecording } from './read-recording.js'
import { RecordingWriter } from './write-recording.js'

let folder: string
beforeAll(async () => void (folder = await mkdtemp(join(tmpdir(), 'recordings-'))))
afterAll(() => rm(folder, { recursive: true, force: true }))

const exchange = (seq: number, more: Partial<RecordingExchange> = {}): RecordingExchange => ({
  seq,
  at: '2026-11-23T10:00:00.000Z',
  ms: 1,
  from: 'client',
  to: 'ironic',
  method: 'GET',
  target: '/v1/nodes',
  request: { headers: {}, bytes: 0 },
  status: 200,
  response: { headers: {}, bytes: 2, body: {} },
  ...more,
})

let files = 0
function written(...exchanges: RecordingExchange[]): string {
  const path = join(folder, `a "quoted" name-${++files}.ndjson`)
  using writer = new RecordingWriter(path, {
    startedAt: '2026-11-23T10:00:00.000Z',
    upstream: 'http://me:pw@192.0.2.1',
  })
  for (const each of exchanges) writer.write(each)
  return path
}

test('a recording is read as it was written, in the order in which requests began', async () => {
  const path = written(exchange(2), exchange(1), exchange(5))
  expect(await readRecording(path)).toMatchObject({
    header: { version: 1, upstream: 'http://******@192.0.2.1/' },
    exchanges: [{ seq: 1 }, { seq: 2 }, { seq: 5 }],
    missing: [3, 4],
    isCut: false,
    name: path,
  })
})

test('a recording whose last line is cut is refused, and read up to there when that is asked for', async () => {
  const path = written(exchange(1), exchange(2))
  await appendFile(path, JSON.stringify(exchange(3)).slice(0, 40))
  await expect(readRecording(path)).rejects.toMatchObject({
    code: 'recording-cut',
    message: `${path} ends in the middle of line 4; 2 exchanges before it are whole`,
  })
  expect(await readRecording(path, { partial: true })).toMatchObject({
    isCut: true,
    exchanges: [{ seq: 1 }, { seq: 2 }],
  })
})

const HEADER = '{"recording":"ironstage","version":1}\n'
test.each([
  ['', 'recording-damaged', /is empty/],
  ['{"a":1}\n', 'recording-damaged', /is no recording: its first line is not a header/],
  ['#!/bin/sh\n', 'recording-damaged', /^line 1 of .* is not JSON/],
  [
    '{"recording":"ironstage","version":7}\n',
    'recording-version',
    /has version 7 of the format, and this program reads 1/,
  ],
  [
    `${HEADER}${JSON.stringify(exchange(1))}\n{"seq":\n${JSON.stringify(exchange(2))}\n`,
    'recording-damaged',
    /^line 3 of .* is not JSON/,
  ],
  [`${HEADER}[]\n`, 'recording-damaged', /^line 2 of .* is no exchange: it is not an object/],
  [
    `${HEADER}${JSON.stringify({ ...exchange(1), from: 'me' })}\n`,
    'recording-damaged',
    /^line 2 .*: from is not client, ironic, agent/,
  ],
  [
    `${HEADER}${JSON.stringify({ ...exchange(1), request: null })}\n`,
    'recording-damaged',
    /^line 2 .*: request is not/,
  ],
  [
    `${HEADER}${JSON.stringify({ ...exchange(1), response: null })}\n`,
    'recording-damaged',
    /a status or a response, and not the other/,
  ],
  [
    `${HEADER}${JSON.stringify(exchange(1))}\n${JSON.stringify(exchange(1))}\n`,
    'recording-damaged',
    /two exchanges with the number 1/,
  ],
])('what is no recording is refused with its place: %j', async (text, code, message) => {
  const path = join(folder, 'damaged.ndjson')
  await writeFile(path, text)
  await expect(readRecording(path, { partial: true })).rejects.toMatchObject({
    code,
    message: expect.stringMatching(message) as string,
  })
})

test('a file that is not there is said', async () => {
  await expect(readRecording(join(folder, 'nowhere'))).rejects.toMatchObject({
    code: 'recording-unreadable',
    kind: 'usage',
  })
})
