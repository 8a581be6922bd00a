import { afterAll, describe, expect, test } from 'vitest'
import { systemClock } from '../runtime/index.js'
import { STRANGE_BODY, STRANGE_SERVERS, strangeServer } from '../../test/kit/strange-servers.js'
import { ConnectionFailed } from './wire-exchange.js'
import { HttpTransport } from './http-transport.js'

const clock = systemClock()
const transport = new HttpTransport({ clock, timeoutMs: 2500, largestAnswer: 2 ** 20 })
afterAll(() => transport[Symbol.asyncDispose]())

describe.concurrent('an Ironic or agent that', () => {
  // The pace of a body is looked at after a minute: the client test has that with a shorter limit.
  test.each(STRANGE_SERVERS.filter(({ name }) => name !== 'drips').map((each) => [each.name, each] as const))(
    '%s',
    async (_, strange) => {
      await using server = await strangeServer(strange, STRANGE_BODY)
      const ended = await transport
        .send({ method: 'GET', url: server.url, headers: {} })
        .catch((error: unknown) => error)
      if (ended instanceof Error) {
        expect(ended).toBeInstanceOf(ConnectionFailed)
        expect(ended.message).toMatch(/^GET http:\/\/127\.0\.0\.1:\d+\/file: \S+ \S+/)
      } else expect(ended).toHaveProperty('status')
    },
    20_000,
  )
})
