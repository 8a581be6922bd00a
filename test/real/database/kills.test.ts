import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'vitest'
import { Scope, seededRandom } from '../../../base/runtime/index.js'
import { howMany } from '../../kit/how-many.js'
import { WorkingClients } from '../../kit/members/node-client.js'
import { UpIronics } from '../../kit/members/up-ironics.js'
import { PostgresServer } from '../postgres.js'

const NODES = 12
/** Milliseconds between two kills, and for which a process is gone. */
const PAUSE = 1500
const GONE = 700

test('kills of processes and of the database lose nothing that was acknowledged, and leave no node stuck', async () => {
  await using scope = new Scope()
  const server = scope.use(await PostgresServer.open({ access: ['host all postgres 127.0.0.1/32 trust'] }))
  const random = seededRandom(Date.now() % 100_000)
  const database = `postgres://postgres@127.0.0.1:${server.port}/postgres`
  const ironics = scope.use(await UpIronics.open(database, ['all', 'all', 'all'], random))
  const clients = scope.use(await WorkingClients.open(NODES, ironics.apis, random))

  const kills = howMany(10, 60)
  for (let kill = 1; kill <= kills; kill++) {
    await sleep(PAUSE * random.next())
    const index = Math.floor(random.next() * ironics.roles.length)
    await ironics.kill(index)
    await sleep(GONE * random.next())
    await ironics.start(index, database)
    // Three times of ten.
    if (kill % 3 === 0) await server.restart('immediate')
  }
  await sleep(PAUSE)
  await clients.expectAllAcknowledged(kills / 2)
}, 600_000)
