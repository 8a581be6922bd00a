import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { Scope, seededRandom } from '../../../base/runtime/index.js'
import { WorkingClients } from '../../kit/members/node-client.js'
import { UpIronics } from '../../kit/members/up-ironics.js'
import { PostgresServer } from '../postgres.js'

const NODES = 12
/** Milliseconds of load before and after the fail-over. */
const LOAD = 3000

test('after a fail-over to a standby that is waited for every acknowledged change is there, and no node is stuck', async () => {
  await using scope = new Scope()
  const access = ['host all postgres 127.0.0.1/32 trust']
  const primary = scope.use(await PostgresServer.open({ access }))
  const standby = scope.use(await primary.standby())
  const hosts = `127.0.0.1:${primary.port},127.0.0.1:${standby.port}`
  const database = `postgres://postgres@${hosts}/postgres?target_session_attrs=read-write`
  const random = seededRandom(Date.now() % 100_000)
  const roles = ['api', 'api', 'conductor', 'conductor'] as const
  const ironics = scope.use(await UpIronics.open(database, roles, random))
  const clients = scope.use(await WorkingClients.open(NODES, ironics.apis, random))
  await sleep(LOAD)
  await primary.stop('immediate')
  await sleep(300)
  await standby.promote()
  await clients.goOn(4)
  await sleep(LOAD)
  await clients.expectAllAcknowledged(6)
  for (const [index] of roles.entries()) expect(ironics.process(index).alive).toBe(true)
}, 600_000)
