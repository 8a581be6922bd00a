import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { UpProcess } from '../../kit/commands/up-process.js'
import { CuttableLink } from '../../kit/cuttable-link.js'
import { callIronic } from '../../kit/members/node-client.js'
import { REAL_PEER_TIMEOUT } from '../limits.js'
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

test.each([
  ['stalls', (link: CuttableLink) => link.stall()],
  ['is down', (link: CuttableLink) => link.refuse()],
])('a process of machines whose database %s ends in order at SIGTERM', async (_, trouble) => {
  await using link = await CuttableLink.open(server.port)
  const database = `postgres://postgres@127.0.0.1:${link.port}/postgres`
  const up = new UpProcess(['--database', database, '--role', 'machines', '--redfish-port', '0', '--no-ui'])
  await up.ready
  const joined = 'select count(*) from ironstage.machines join ironstage.members on member = id where is_online'
  await expect.poll(() => server.sql(joined), { timeout: REAL_PEER_TIMEOUT }).toBe('1')
  trouble(link)
  await sleep(300)
  expect(await up.stop()).toBe(0)
  expect(up.stray).toEqual([])
  await server.sql('delete from ironstage.members')
})
