import { expect, test } from 'vitest'
import { silent, systemClock } from '../../../base/runtime/index.js'
import { joinWithMachines } from '../../../ironic-mock/index.js'
import { connectDatabase } from '../../../ironic-mock/store/postgres/connect-database.js'
import type { DatabaseAddress } from '../../../ironic-mock/store/postgres/database-address.js'
import { PostgresSession } from '../../../ironic-mock/store/postgres/postgres-session.js'
import { ENTERING, SoleProcess } from '../../../ironic-mock/store/postgres/sole-process.js'
import { CuttableLink } from '../../kit/cuttable-link.js'
import { addressOf, openMemberStore, type SharedStore } from '../../kit/members/member-cluster.js'
import { node } from '../../kit/store-records.js'
import { DatabaseScene } from '../database-scene.js'

const scene = new DatabaseScene('sole')

/** Waits until a process is alone with a schema. */
const someIsAlone = ({ schema }: DatabaseAddress): Promise<void> =>
  expect
    .poll(
      () =>
        scene.server.sql(`select count(*) from pg_locks where locktype = 'advisory' and mode = 'ExclusiveLock'
      and classid = '"${schema}".streams'::regclass`),
      { timeout: 10_000 },
    )
    .toBe('1')

/** Address of a schema with its tables. */
async function newAddress(): Promise<DatabaseAddress> {
  const address = scene.newAddress()
  await (await openMemberStore(address, 'first', systemClock()))[Symbol.asyncDispose]()
  return address
}

interface Entered {
  readonly session: PostgresSession
  readonly sole: SoleProcess
  take(): Promise<void>
}

/** A process, which hears others that come in unless it is deaf. */
async function enter(address: DatabaseAddress, isDeaf = false): Promise<Entered> {
  const clock = systemClock()
  const channel = `ironstage ${address.schema}`
  const heard: { by?: SoleProcess } = {}
  const session = scene.scope.use(
    await PostgresSession.open({
      connect: () => connectDatabase(address),
      clock,
      logger: silent,
      channel,
      notified: (payload) => {
        if (payload === ENTERING && !isDeaf) heard.by?.giveUp()
      },
    }),
  )
  const sole = await SoleProcess.enter(session, channel, clock)
  heard.by = sole
  const answered = () => new Promise<void>((resolve) => session.send({ text: 'select 1' }, () => resolve()))
  return { session, sole, take: () => sole.take(answered) }
}

test('the only process is alone, gives that up for one that comes, and the last one is alone again', async () => {
  const address = await newAddress()
  const one = await enter(address)
  expect(one.sole.isAlone).toBe(false)
  await one.take()
  expect(one.sole.isAlone).toBe(true)
  const two = await enter(address)
  expect(one.sole.isAlone).toBe(false)
  for (const each of [one, two]) {
    await each.take()
    expect(each.sole.isAlone).toBe(false)
  }
  await one.session[Symbol.asyncDispose]()
  await two.take()
  expect(two.sole.isAlone).toBe(true)
})

test('processes that come while another takes the lock for itself all come in, and none is alone', async () => {
  const address = await newAddress()
  const one = await enter(address)
  const taking = one.take()
  const others = await Promise.all(Array.from({ length: 4 }, () => enter(address)))
  await taking
  await Promise.all([one, ...others].map((each) => each.take()))
  expect([one, ...others].map(({ sole }) => sole.isAlone)).toEqual(Array.from({ length: 5 }, () => false))
})

test('one that is alone and does not hear loses its connection, and comes back as one of two', async () => {
  const address = await newAddress()
  const deaf = await enter(address, true)
  await deaf.take()
  expect(deaf.sole.isAlone).toBe(true)
  const { generation } = deaf.session
  const other = await enter(address)
  expect(deaf.sole.isAlone).toBe(false)
  await expect.poll(() => deaf.session.isReady && deaf.session.generation).toBe(generation + 1)
  for (const { take, sole } of [deaf, other]) {
    await take()
    expect(sole.isAlone).toBe(false)
  }
})

test('behind a link that is half open a process stops to be alone before the server lets another in', async () => {
  const direct = await newAddress()
  const link = scene.scope.use(await CuttableLink.open(scene.server.port))
  const one = await enter({ ...addressOf(link, direct.schema), schema: direct.schema })
  await one.take()
  expect(one.sole.isAlone).toBe(true)
  link.stall()
  const coming = enter(direct)
  let wasAlone = 0
  const watched = setInterval(() => (wasAlone = one.sole.isAlone ? performance.now() : wasAlone), 5)
  await coming
  clearInterval(watched)
  expect(one.sole.isAlone).toBe(false)
  expect(performance.now() - wasAlone).toBeGreaterThan(500)
  link.cut()
})

test('a change of a process that came while another was alone is seen there by the next request', async () => {
  const address = scene.newAddress()
  const one = scene.scope.use(await openMemberStore(address, 'one', systemClock()))
  await one.createNode(node('a'))
  await someIsAlone(address)
  for (let revision = 1; revision <= 3; revision++) {
    const two = await openMemberStore(address, 'two', systemClock())
    await two.commit({ node: 'a', expect: 2 * revision - 1, patch: { description: 'by two' } })
    await one.others!.catchUp()
    expect(one.records.nodes.get('a')?.revision).toBe(2 * revision)
    await one.commit({ node: 'a', expect: 2 * revision, patch: { description: 'by one' } })
    await two.others!.catchUp()
    expect(two.records.nodes.get('a')?.revision).toBe(2 * revision + 1)
    await two[Symbol.asyncDispose]()
    await someIsAlone(address)
  }
}, 40_000)

test('a process of machines comes and goes, and the only Ironic is alone meanwhile', async () => {
  const address = await newAddress()
  const one = await enter(address)
  await one.take()
  const self = { host: 'fleet', role: 'machines', group: '', drivers: [], url: null, version: 'test' } as const
  const machines = () => [{ name: 'machine-1', node: 'node-1', disks: ['sda'] }]
  const fleet = await joinWithMachines({ address, self, clock: systemClock(), logger: silent, machines })
  expect(fleet.members.own).toMatchObject({ host: 'fleet', role: 'machines' })
  const listed = `select name from "${address.schema}".machines`
  expect(await scene.server.sql(listed)).toBe('machine-1')
  const hear = () => new Promise<void>((resolve) => one.session.send({ text: 'select 1' }, () => resolve()))
  await hear()
  expect(one.sole.isAlone).toBe(true)
  await fleet[Symbol.asyncDispose]()
  await hear()
  expect(one.sole.isAlone).toBe(true)
})

test('ids grow in the order in which records are made, also when a process was alone in between', async () => {
  const address = await newAddress()
  const open = async (host: string) => scene.scope.use(await openMemberStore(address, host, systemClock()))
  const one = await open('one')
  const made: string[] = []
  const make = async (store: SharedStore, count: number): Promise<void> => {
    await store.others!.catchUp()
    for (let each = 0; each < count; each++) {
      const uuid = `node-${made.length}`
      await store.createNode(node(uuid))
      made.push(uuid)
    }
  }
  for (let round = 0; round < 2; round++) {
    await someIsAlone(address)
    await make(one, 3)
    const two = await openMemberStore(address, `two-${round}`, systemClock())
    await make(two, 3)
    await make(one, 3)
    await make(two, 3)
    await two[Symbol.asyncDispose]()
  }
  await someIsAlone(address)
  await make(one, 3)
  const listed = `select string_agg(uuid, ' ' order by id) from "${address.schema}".nodes`
  expect(await scene.server.sql(listed)).toBe(made.join(' '))
})
