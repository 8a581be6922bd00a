import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { UpProcess } from '../../kit/commands/up-process.js'
import { CuttableLink } from '../../kit/cuttable-link.js'
import { callIronic } from '../../kit/members/node-client.js'
import { PostgresServer } from '../postgres.js'

let server: PostgresServer
beforeAll(async () => {
  server = await PostgresServer.open({ access: ['host all postgres 127.0.0.1/32 trust'] })
})
afterAll(() => server[Symbol.asyncDispose]())

test.each([
  ['stalls', (link: CuttableLink) => link.stall()],
  ['is down', (link: CuttableLink) => link.refuse()],
])('a process whose database %s ends in order at SIGTERM, before it would be ended by force', async (_, trouble) => {
  for (const role of ['api', 'conductor']) {
    await using link = await CuttableLink.open(server.port)
    const database = `postgres://postgres@127.0.0.1:${link.port}/postgres`
    const up = new UpProcess(['--database', database, '--role', role, '--port', '0', '--no-ui'])
    const { port } = new URL(await up.ready)
    trouble(link)
    const waiting = callIronic(Number(port), 'GET', '/nodes')
    await sleep(300)
    // The end by force has another exit code.
    expect(await up.stop()).toBe(0)
    expect(up.stray).toEqual([])
    await waiting
  }
})
