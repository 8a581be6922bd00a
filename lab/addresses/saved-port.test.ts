import { mkdtemp } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { serve } from '../serve.js'
import { seededRandom, systemClock } from '../../base/runtime/index.js'

const scratch = () => mkdtemp(join(tmpdir(), 'ironstage-ports-'))
const start = (stateDir: string, warnings: string[] = []) =>
  serve({
    host: '127.0.0.1',
    port: 0,
    nodes: 0,
    stateDir,
    realistic: false,
    clock: systemClock(),
    random: seededRandom(1),
    logger: (level, message) => void (level === 'warn' && warnings.push(message)),
  })

test('a picked port stays the same over restarts, since machines from then use it', async () => {
  const folder = await scratch()
  const first = await start(folder)
  await first[Symbol.asyncDispose]()
  await using second = await start(folder)
  expect(second.url).toBe(first.url)
})

test('when the port is taken, another one is picked with a warning about the consequence', async () => {
  const folder = await scratch()
  const first = await start(folder)
  await first[Symbol.asyncDispose]()
  const port = Number(new URL(first.url).port)
  const other = createServer().listen(port, '127.0.0.1')
  await once(other, 'listening')
  const warnings: string[] = []
  {
    await using second = await start(folder, warnings)
    expect((other.address() as AddressInfo).port).not.toBe(Number(new URL(second.url).port))
  }
  other.close()
  expect(warnings).toEqual([
    `port ${port}, used before, is taken: the machines that are running no longer find Ironic; reboot them`,
  ])
})
