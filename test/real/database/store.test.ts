import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { VirtualClock, systemClock } from '../../../base/runtime/index.js'
import { connectDatabase } from '../../../ironic-mock/store/postgres/connect-database.js'
import { StaleRevision } from '../../../ironic-mock/store/store.js'
import { CuttableLink } from '../../kit/cuttable-link.js'
import { addressOf, openMemberStore, type SharedStore } from '../../kit/members/member-cluster.js'
import { node } from '../../kit/store-records.js'
import { testStore } from '../../kit/store/store-contract.js'
import { DatabaseScene } from '../database-scene.js'
import { PostgresServer } from '../postgres.js'

const scene = new DatabaseScene('store')

describe('a store in PostgreSQL', () =>
  testStore(async (clock = new VirtualClock()) =>
    scene.scope.use(await openMemberStore(scene.newAddress(), 'one', clock)),
  ))

test('a process that has caught up sees what another has acknowledged; of two changes of a revision one is refused', async () => {
  const address = scene.newAddress()
  const one = await openMemberStore(address, 'one', systemClock())
  const two = await openMemberStore(address, 'two', systemClock())
  scene.scope.use(one)
  scene.scope.use(two)
  await one.createNode(node('a'))
  for (let revision = 1; revision <= 50; revision++) {
    const patch = { description: String(revision) }
    const changes = await Promise.allSettled(
      [one, two].map((store) => store.commit({ node: 'a', expect: revision, patch })),
    )
    expect(changes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    const refused = changes.find((change) => change.status === 'rejected')
    expect(refused?.reason).toBeInstanceOf(StaleRevision)
    for (const { others, records } of [one, two]) {
      await others!.catchUp()
      expect(records.nodes.get('a')?.revision).toBe(revision + 1)
    }
  }
})

test('while all records are read again heartbeats are written over the session, and a commit waits and is made', async () => {
  const address = scene.newAddress()
  const store = scene.scope.use(await openMemberStore(address, 'one', systemClock()))
  await store.createNode(node('a'))
  const blocker = await connectDatabase(address)
  scene.scope.onClose(() => blocker.end())
  await blocker.query('begin')
  await blocker.query('lock table resources in access exclusive mode')
  // Another process has changed something that the log does not have any more.
  await scene.server.sql(`insert into "${address.schema}".streams (seq) values (5)`)
  const followed = store.others!.catchUp()
  const waits = 'select count(*) from pg_locks where not granted'
  await expect.poll(() => scene.server.sql(waits)).toBe('1')

  const { session } = store.others!
  const heartbeat = 'update streams set used = now() where stream = $1'
  expect(await session.query(heartbeat, [session.stream])).toMatchObject({ rowCount: 1 })
  const committed = store.commit({ node: 'a', expect: 1, patch: { description: 'meanwhile' } })

  await blocker.query('commit')
  await followed
  expect(await committed).toBe(2)
  expect((await store.node('a'))?.node.description).toBe('meanwhile')
  const connections = `select count(*) from pg_stat_activity where datname = 'postgres' and pid <> pg_backend_pid()`
  // That of the session and that of the test: the one that read is closed.
  await expect.poll(() => scene.server.sql(connections)).toBe('2')
})

test('a commit that is under way when all records are read again is in them', async () => {
  const address = scene.newAddress()
  const store = scene.scope.use(await openMemberStore(address, 'one', systemClock()))
  await store.createNode(node('a'))
  for (let revision = 1; revision <= 20; revision++) {
    await scene.server.sql(`insert into "${address.schema}".streams (seq) values (5)`)
    const committed = store.commit({ node: 'a', expect: revision, patch: { description: String(revision) } })
    await Promise.all([store.others!.catchUp(), committed])
    expect(await store.node('a')).toMatchObject({ revision: revision + 1, node: { description: String(revision) } })
  }
})

test('changes that were acknowledged are there after the server ended at once, and writes meanwhile wait for it', async () => {
  // The more tables a server has, the longer is its recovery.
  await using ended = await PostgresServer.open({ access: ['host all all 127.0.0.1/32 trust'] })
  const address = addressOf(ended, 'ended')
  await using link = await CuttableLink.open(ended.port)
  const store = scene.scope.use(await openMemberStore(addressOf(link, address.schema), 'one', systemClock()))
  await store.createNode(node('a'))
  await ended.stop('immediate')
  link.refuse()
  // A write waits for some seconds; the start of a server may take longer.
  await ended.start()
  const waiting = store.commit({ node: 'a', expect: 1, patch: { description: 'later' } })
  link.accept()
  expect(await waiting).toBe(2)
  const other = scene.scope.use(await openMemberStore(address, 'two', systemClock()))
  expect((await other.node('a'))?.node.description).toBe('later')
})

test('a store that ends while its database stalls waits for its write without work, and no longer than for the connection', async () => {
  await using link = await CuttableLink.open(scene.server.port)
  const store = await openMemberStore(addressOf(link, scene.newAddress().schema), 'one', systemClock())
  await store.createNode(node('a'))
  link.stall()
  const written = store.commit({ node: 'a', expect: 1, patch: { description: 'lost' } }).catch(String)
  const before = performance.eventLoopUtilization()
  let isEnded = false
  const ending = store[Symbol.asyncDispose]().then(() => (isEnded = true))
  await sleep(500)
  // A loop of turns would be 1.
  expect(performance.eventLoopUtilization(before).utilization).toBeLessThan(0.9)
  expect(isEnded).toBe(false)
  link.cut()
  await ending
  expect(await written).toContain('the database cannot be reached')
})

test('a change that the standby does not have yet is acknowledged only with it, also when its connection ends', async () => {
  await using primary = await PostgresServer.open({ access: ['host all all 127.0.0.1/32 trust'] })
  await using _standby = await primary.standby()
  const store = scene.scope.use(await openMemberStore(addressOf(primary, 'store'), 'one', systemClock()))
  await store.createNode(node('a'))
  // Stopped as a process, it goes on at once: a write waits for some seconds, and the start of a server may take longer.
  const sender = Number(await primary.sql('select pid from pg_stat_replication'))
  process.kill(sender, 'SIGSTOP')
  let isAnswered = false
  const change = store
    .commit({ node: 'a', expect: 1, patch: { description: 'later' } })
    .finally(() => (isAnswered = true))
  const waiting = "select coalesce(min(pid), 0) from pg_stat_activity where wait_event = 'SyncRep'"
  await expect.poll(() => primary.sql(waiting)).not.toBe('0')
  const first = await primary.sql(waiting)
  await primary.sql(`select pg_terminate_backend(${first})`)
  await expect.poll(() => primary.sql('select revision from store.nodes')).toBe('2')
  await expect.poll(() => primary.sql(waiting)).not.toMatch(new RegExp(`^(0|${first})$`))
  expect(isAnswered).toBe(false)
  process.kill(sender, 'SIGCONT')
  expect(await change).toBe(2)
})

test('from a database that was restored from a backup all processes go on', async () => {
  await using restored = await PostgresServer.open({ access: ['host all all 127.0.0.1/32 trust'] })
  const address = addressOf(restored, 'store')
  const one = scene.scope.use(await openMemberStore(address, 'one', systemClock()))
  const two = scene.scope.use(await openMemberStore(address, 'two', systemClock()))
  await one.createNode(node('a'))
  await restored.backup()
  await one.createNode(node('b'))
  await one.commit({ node: 'a', expect: 1, patch: { description: 'lost' } })
  await two.others!.catchUp()
  await restored.restore()
  for (const store of [two, one]) {
    await store.others!.catchUp()
    expect([...store.records.nodes.keys()]).toEqual(['a'])
    expect(store.records.nodes.get('a')).toMatchObject({ revision: 1 })
  }
  expect(await one.commit({ node: 'a', expect: 1, patch: { description: 'again' } })).toBe(2)
  await two.others!.catchUp()
  expect((await two.node('a'))?.node.description).toBe('again')
  expect(await two.commit({ node: 'a', expect: 2, patch: { description: 'last' } })).toBe(3)
})

test('a deadlock and failed serializations are not shown: the change is made again', async () => {
  const address = scene.newAddress()
  const store = scene.scope.use(await openMemberStore(address, 'one', systemClock()))
  await Promise.all(['a', 'b'].map((uuid) => store.createNode(node(uuid))))
  const other = await connectDatabase(address)
  scene.scope.onClose(() => other.end())
  await other.query("set deadlock_timeout = '60s'")
  await other.query('begin')
  await other.query("select from nodes where uuid = 'b' for update")
  const changes = ['a', 'b'].map((uuid) => store.commit({ node: uuid, expect: 1, patch: { description: 'made' } }))
  const waits = 'select count(*) from pg_locks where not granted'
  await expect.poll(() => scene.server.sql(waits)).toBe('1')
  await other.query("select from nodes where uuid = 'a' for update")
  await other.query('commit')
  expect(await Promise.all(changes)).toEqual([2, 2])
  await expect.poll(() => scene.server.log).toContain('deadlock detected')

  await scene.server.sql("alter database postgres set default_transaction_isolation = 'serializable'")
  const stores: SharedStore[] = []
  for (const host of ['two', 'three']) stores.push(scene.scope.use(await openMemberStore(address, host, systemClock())))
  await scene.server.sql('alter database postgres reset default_transaction_isolation')
  for (let revision = 2; revision <= 30; revision++) {
    const patch = { description: String(revision) }
    const made = await Promise.allSettled(stores.map((each) => each.commit({ node: 'a', expect: revision, patch })))
    expect(made.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    const refused = made.find((change) => change.status === 'rejected')
    expect(refused?.reason).toBeInstanceOf(StaleRevision)
    for (const each of stores) await each.others!.catchUp()
  }
  await expect.poll(() => scene.server.log).toContain('could not serialize access')
})

test('a process that gets no second connection to read all again waits for one', async () => {
  await scene.server.sql('create role limited login; grant create on database postgres to limited')
  const [connection] = scene.newAddress().connections
  const config = { ...connection!.config, user: 'limited' }
  const address = { ...scene.newAddress(), connections: [{ ...connection!, config }] }
  const store = scene.scope.use(await openMemberStore(address, 'one', systemClock()))
  await store.createNode(node('a'))
  await scene.server.sql('alter role limited connection limit 1')
  await scene.server.sql(`insert into "${address.schema}".streams (seq) values (5)`)
  let isDone = false
  const followed = store.others!.catchUp().finally(() => (isDone = true))
  await expect.poll(() => scene.server.log).toContain('too many connections for role "limited"')
  const change = store.commit({ node: 'a', expect: 1, patch: { description: 'later' } })
  expect(isDone).toBe(false)
  await scene.server.sql('alter role limited connection limit -1')
  await followed
  expect(await change).toBe(2)
})
