import { createServer } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { systemClock } from '../../../base/runtime/index.js'
import { callApi } from './api-call.js'

test('a call that fails is not made again', async () => {
  let calls = 0
  const server = createServer((_, response) => {
    calls++
    response.writeHead(503).end()
  }).listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`

  const { signal } = new AbortController()
  await expect(callApi({ url, headers: {}, timeout: 5000 }, systemClock(), signal)).rejects.toThrow(
    `Request to ${url} failed`,
  )
  expect(calls).toBe(1)
})
