import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { Scope, seededRandom } from '../../../base/runtime/index.js'
import { expectAllAcknowledged, openClients } from '../../kit/members/node-client.js'
import { UpIronics } from '../../kit/members/up-ironics.js'
import { REAL_PEER_TIMEOUT } from '../limits.js'
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
  const work = await openClients(NODES, ironics.apis, random)
  await sleep(LOAD)
  await primary.stop('immediate')
  await sleep(300)
  await standby.promote()
  const before = work.clients.map(({ acknowledged }) => acknowledged)
  const goesOn = (): boolean => work.clients.every(({ acknowledged }, place) => acknowledged > before[place]! + 3)
  await expect.poll(goesOn, { timeout: REAL_PEER_TIMEOUT }).toBe(true)
  await sleep(LOAD)
  await expectAllAcknowledged(work, 6)
  for (const [index] of roles.entries()) expect(ironics.process(index).alive).toBe(true)
}, 600_000)
