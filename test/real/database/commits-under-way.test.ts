import type { Client } from 'pg'
import { expect, test } from 'vitest'
import { systemClock } from '../../../base/runtime/index.js'
import { connectDatabase } from '../../../ironic-mock/store/postgres/connect-database.js'
import type { DatabaseAddress } from '../../../ironic-mock/store/postgres/database-address.js'
import { StaleRevision } from '../../../ironic-mock/store/store.js'
import { openMemberStore, type SharedStore } from '../../kit/members/member-cluster.js'
import { node } from '../../kit/store-records.js'
import { DatabaseScene } from '../database-scene.js'

/** A transaction that is under way, and a change that waits for it: both while another process is first, and while connections break. */

const scene = new DatabaseScene('commits')

interface Scene {
  readonly address: DatabaseAddress
  readonly store: SharedStore
  /** A connection of the test, in a transaction that has a lock on node `a`. */
  readonly blocker: Client
}

async function lockedScene(): Promise<Scene> {
  const address = scene.newAddress()
  const store = scene.scope.use(await openMemberStore(address, 'one', systemClock()))
  for (const uuid of ['a', 'b', 'c']) await store.createNode(node(uuid))
  const blocker = await connectDatabase(address)
  scene.scope.onClose(() => blocker.end())
  await blocker.query('begin')
  await blocker.query("select from nodes where uuid = 'a' for update")
  return { address, store, blocker }
}

const change = (store: SharedStore, uuid: string, description: string, expected = 1): Promise<number> =>
  store.commit({ node: uuid, expect: expected, patch: { description } })

/** Resolves when so many statements wait for locks. */
const waiting = (count: number): Promise<void> =>
  expect.poll(() => scene.server.sql('select count(*) from pg_locks where not granted')).toBe(String(count))

/** Lets the writes that were asked for be sent. */
const sent = (): Promise<void> => new Promise((resolve) => setImmediate(() => setImmediate(resolve)))

async function descriptions(address: DatabaseAddress): Promise<(string | null | undefined)[]> {
  const other = scene.scope.use(await openMemberStore(address, 'reader', systemClock()))
  return Promise.all(['a', 'b', 'c'].map(async (uuid) => (await other.node(uuid))?.node.description))
}

test('both are made again when the connection breaks, each once', async () => {
  const { address, store, blocker } = await lockedScene()
  const changes = [change(store, 'a', 'first')]
  await waiting(1)
  changes.push(change(store, 'b', 'second'))
  await sent()
  const { backend } = store.others!.session
  await scene.server.sql(`select pg_terminate_backend(${backend})`)
  await blocker.query('commit')
  expect(await Promise.all(changes)).toEqual([2, 2])
  expect(await descriptions(address)).toEqual(['first', 'second', node('c').description])
})

test('where another process was first with a node, the change is refused, and the one that waited is made', async () => {
  const { address, store, blocker } = await lockedScene()
  const other = scene.scope.use(await openMemberStore(address, 'two', systemClock()))
  const theirs = change(other, 'a', 'theirs')
  await waiting(1)
  const first = expect(change(store, 'a', 'first')).rejects.toThrow(StaleRevision)
  await waiting(2)
  const second = change(store, 'b', 'second')
  await sent()
  await blocker.query('commit')
  expect(await theirs).toBe(2)
  await first
  expect(await second).toBe(2)
  expect(await change(store, 'c', 'after')).toBe(2)
  expect(await descriptions(address)).toEqual(['theirs', 'second', 'after'])
})

test('a change that waits is judged by what was under way before it', async () => {
  const { store, blocker } = await lockedScene()
  const first = change(store, 'a', 'first')
  await waiting(1)
  const second = change(store, 'a', 'second', 2)
  const third = expect(change(store, 'a', 'third', 1)).rejects.toThrow(StaleRevision)
  await sent()
  await blocker.query('commit')
  expect(await first).toBe(2)
  expect(await second).toBe(3)
  await third
})

test('whatever was committed when a connection ends is not made once more', async () => {
  const { address, store, blocker } = await lockedScene()
  await blocker.query('commit')
  for (let revision = 1; revision <= 20; revision++) {
    const changes = ['a', 'b', 'c'].map(async (uuid, place) => {
      for (let before = 0; before < place; before++) await sent()
      return change(store, uuid, `${uuid} ${revision}`, revision)
    })
    await sent()
    await scene.server.sql(`select pg_terminate_backend(${store.others!.session.backend ?? 0})`)
    expect(await Promise.all(changes)).toEqual([revision + 1, revision + 1, revision + 1])
  }
  expect(await descriptions(address)).toEqual(['a 20', 'b 20', 'c 20'])
})
