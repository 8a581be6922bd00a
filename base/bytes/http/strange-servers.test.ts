import { afterAll, describe, expect, test } from 'vitest'
import { sharedAbort, systemClock } from '../../runtime/index.js'
import { STRANGE_BODY, STRANGE_SERVERS, strangeServer } from '../../../test/kit/strange-servers.js'
import { FetchFailure } from './fetch-failure.js'
import { HttpClient } from './http-client.js'

const stray: unknown[] = []
const seen = (error: unknown) => void stray.push(error)
process.on('unhandledRejection', seen)
afterAll(() => void process.off('unhandledRejection', seen))

const clock = systemClock()
const STRANGE_SERVER_LIMITS = {
  connect: 5000,
  header: 1500,
  silence: 1000,
  slowest: { bytes: 1000, within: 1500 },
  headerBytes: 16_384,
}
const client = new HttpClient({ clock, limits: STRANGE_SERVER_LIMITS })
const { signal } = sharedAbort()

describe.concurrent('a server that', () => {
  test.each(STRANGE_SERVERS.map((each) => [each.name, each] as const))('%s', async (_, strange) => {
    await using server = await strangeServer(strange, STRANGE_BODY)
    const got = (async () => {
      const answer = await client.get({ url: server.url, signal })
      try {
        if (answer.status !== 200) return 'status'
        return await answer.bytes(2 ** 20)
      } finally {
        await answer.close()
      }
    })()
    const { ends } = strange
    if (ends === 'whole') return expect(Buffer.compare((await got) as Buffer, STRANGE_BODY)).toBe(0)
    if (ends.includes('status')) return expect(await got).toBe('status')
    const failure = await got.then(
      () => undefined,
      (error: unknown) => error,
    )
    expect(failure).toBeInstanceOf(FetchFailure)
    const { code, message, remedy } = failure as FetchFailure
    expect(ends).toContain(code)
    expect(message).toMatch(/127\.0\.0\.1:\d+/)
    expect(message + remedy).not.toMatch(/undefined|\{|\[object/)
  })
})

test('none of them leaves an error that nothing caught', () => {
  expect(stray).toEqual([])
})
