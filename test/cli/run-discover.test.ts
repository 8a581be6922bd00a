import { createServer } from 'node:http'
import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { command } from '../kit/commands/command.js'
import { scratch } from '../kit/commands/steps-file.js'

test('run discover refuses a file that is there before it asks any BMC', async () => {
  const out = join(await scratch(), 'hosts.yaml')
  await writeFile(out, 'mine')
  let calls = 0
  const server = createServer((_, response) => {
    calls++
    response.writeHead(404).end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  using _closed = { [Symbol.dispose]: () => void server.close() }
  const range = `127.0.0.1:${(server.address() as AddressInfo).port}`
  const refused = command(['run', 'discover', range, '--bmc-password', 'x', '--out', out])
  expect(await refused.ended).toBe(2)
  expect(refused.stderr).toContain(`${out} already exists\n  try: name another file, or replace it with --force`)
  expect(calls).toBe(0)
  expect(await readFile(out, 'utf8')).toBe('mine')
})
