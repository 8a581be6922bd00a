import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { Scope, seededRandom } from '../../../base/runtime/index.js'
import { callIronic, WorkingClients } from '../../kit/members/node-client.js'
import { UpIronics } from '../../kit/members/up-ironics.js'
import { databaseUser, PostgresServer } from '../postgres.js'
import { SmallDisk } from '../small-disk.js'

const ACCESS = ['host all postgres 127.0.0.1/32 trust']
const ROLES = ['api', 'conductor'] as const

/** Fills the disk under load until calls are refused for it, and frees it. */
async function fillUnderLoad(disk: SmallDisk, database: string, repair: () => Promise<void>): Promise<void> {
  await using scope = new Scope()
  const random = seededRandom(Date.now() % 100_000)
  const ironics = scope.use(await UpIronics.open(database, ROLES, random))
  const clients = scope.use(await WorkingClients.open(8, ironics.apis, random))
  await sleep(1000)
  await disk.fill()
  const [port] = ironics.apis
  const create = (place: number) =>
    callIronic(port!, 'POST', '/nodes', { name: `new-${place}`, driver: 'fake-hardware' })
  let created = 0
  let last = await create(created)
  for (; last.status === 201; last = await create(created)) created++
  expect(last).toMatchObject({ status: 503, retryAfter: '5' })
  await sleep(2000)
  await disk.free()
  await repair()
  await clients.goOn(4)
  expect((await callIronic(port!, 'GET', `/nodes/new-${created}`)).status).toBe(404)
  if (created > 0) expect((await callIronic(port!, 'GET', `/nodes/new-${created - 1}`)).status).toBe(200)
  await clients.expectAllAcknowledged(3)
}

test('tables whose disk is full: calls get 503 with Retry-After, and all goes on when there is room', async () => {
  await using server = await PostgresServer.open({ access: ACCESS })
  await using disk = await SmallDisk.mount('24m', server.user)
  await server.sql(`create tablespace small location '${disk.folder}'`)
  await server.sql('create database small tablespace small')
  await fillUnderLoad(disk, `postgres://postgres@127.0.0.1:${server.port}/small`, () => Promise.resolve())
  await server.stop()
}, 600_000)

test('a server that ends because its whole disk is full: calls get 503 with Retry-After, and all goes on after its next start', async () => {
  await using disk = await SmallDisk.mount('128m', await databaseUser())
  await using server = await PostgresServer.open({ access: ACCESS, parent: disk.folder })
  await fillUnderLoad(disk, `postgres://postgres@127.0.0.1:${server.port}/postgres`, async () => {
    if (!server.isRunning) await server.start()
  })
}, 600_000)
