import type { Socket } from 'node:net'
import { expect, test } from 'vitest'
import { ask, clock, raw, recording } from '../../../test/kit/recorder.js'

const HEAD = 'HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n'
const slowly = (socket: Socket, ...parts: string[]): void => {
  void (async () => {
    for (const part of parts) {
      socket.write(part)
      await clock.sleep(30)
    }
    socket.end()
  })()
}
const STRANGE: [name: string, script: (socket: Socket) => void, wanted: object | RegExp, failure?: RegExp][] = [
  [
    'a body shorter than its length',
    (socket) => socket.end(`${HEAD}Content-Length: 10\r\n\r\nshort`),
    /aborted|hang up/,
    /in the middle of the answer/,
  ],
  ['a body longer than its length', (socket) => socket.end(`${HEAD}Content-Length: 4\r\n\r\nlonger`), { text: 'long' }],
  [
    'JSON shorter than its length',
    (socket) => socket.end(`HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 10\r\n\r\n{"a":`),
    /aborted|hang up/,
    /in the middle of the answer/,
  ],
  [
    'chunks and trailers',
    (socket) =>
      slowly(
        socket,
        `${HEAD}Trailer: X-Sum\r\nTransfer-Encoding: chunked\r\n\r\n`,
        '3\r\none\r\n',
        '3\r\ntwo\r\n',
        '0\r\nX-Sum: 6\r\n\r\n',
      ),
    { text: 'onetwo', trailers: { 'x-sum': '6' } },
  ],
  [
    'chunks that end in the middle',
    (socket) => slowly(socket, `${HEAD}Transfer-Encoding: chunked\r\n\r\n`, '3\r\none\r\n'),
    /aborted|hang up/,
    /in the middle of the answer/,
  ],
  ['no length, until it closes', (socket) => slowly(socket, `${HEAD}\r\n`, 'one', 'two'), { text: 'onetwo' }],
  [
    'the header byte by byte',
    (socket) => slowly(socket, ...`HTTP/1.1 202 Taken\r\nContent-Length: 0\r\n\r\n`),
    { status: 202, message: 'Taken', text: '' },
  ],
  [
    'interim answers',
    (socket) => socket.end(`HTTP/1.1 103 Early Hints\r\n\r\n${HEAD}Content-Length: 2\r\n\r\nok`),
    { text: 'ok' },
  ],
  ['a reset', (socket) => socket.resetAndDestroy(), /ECONNRESET|hang up/, /there was no answer/],
  ['no HTTP', (socket) => socket.end('SSH-2.0-OpenSSH\r\n'), /ECONNRESET|hang up/, /there was no answer/],
  [
    'two cookies and odd bytes in a header',
    (socket) =>
      socket.end(`${HEAD}Set-Cookie: a=1\r\nSet-Cookie: b=2\r\nX-Odd: \xe9\r\nContent-Length: 0\r\n\r\n`, 'latin1'),
    { headers: { 'set-cookie': ['a=1', 'b=2'], 'x-odd': '\xe9' } },
  ],
  [
    'another protocol',
    (socket) => socket.end('HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\n'),
    /ECONNRESET|hang up/,
    /changes the protocol/,
  ],
]

test.each(STRANGE)('an upstream with %s is passed on as it is', async (_, script, wanted, failure) => {
  await using ironic = await raw(script)
  await using stage = await recording(ironic.url)
  const asked = ask(`${stage.url}/v1/nodes`)
  if (wanted instanceof RegExp) await expect(asked).rejects.toThrow(wanted)
  else expect(await asked).toMatchObject(wanted)
  const [exchange, ...others] = await stage.exchanges()
  expect(others).toEqual([])
  if (failure) expect(exchange!.failure).toMatch(failure)
  else expect(exchange!.failure).toBeUndefined()
})
