import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { systemClock } from '../../../base/runtime/index.js'
import { howMany } from '../../kit/how-many.js'
import { addressOf, openMemberStore } from '../../kit/members/member-cluster.js'
import { AT, node, open } from '../../kit/store-records.js'
import { doOperations, operationGroups, storeContents } from '../../kit/store/store-operations.js'
import { PostgresServer } from '../postgres.js'

let server: PostgresServer
beforeAll(async () => {
  server = await PostgresServer.open({ access: ['host all all 127.0.0.1/32 trust'] })
})
afterAll(() => server[Symbol.asyncDispose]())

let schemas = 0
const newAddress = () => addressOf(server, `same-${++schemas}`)

test('a store in PostgreSQL answers random work as one in memory does, and has the same when it is opened again', async () => {
  const check = fc.asyncProperty(operationGroups, async (groups) => {
    const address = newAddress()
    await using inMemory = open()
    {
      await using shared = await openMemberStore(address, 'one', systemClock())
      for (const group of groups) expect(await doOperations(shared, group)).toEqual(await doOperations(inMemory, group))
      expect(await storeContents(shared)).toEqual(await storeContents(inMemory))
    }
    await using again = await openMemberStore(address, 'two', systemClock())
    expect(await storeContents(again)).toEqual(await storeContents(inMemory))
  })
  await fc.assert(check, { numRuns: howMany(25, 300) })
})

test('two processes that take their turns at random work answer as one store in memory does', async () => {
  const groupsWithPlaces = fc.array(fc.tuple(fc.nat(1), operationGroups), { minLength: 1, maxLength: 3 })
  const check = fc.asyncProperty(groupsWithPlaces, async (places) => {
    const address = newAddress()
    await using inMemory = open()
    await using one = await openMemberStore(address, 'one', systemClock())
    await using two = await openMemberStore(address, 'two', systemClock())
    const stores = [one, two]
    let next = 0
    for (const [first, groups] of places)
      for (const group of groups) {
        const store = stores[(first + next++) % 2]!
        await store.others!.catchUp()
        expect(await doOperations(store, group)).toEqual(await doOperations(inMemory, group))
      }
    for (const store of stores) {
      await store.others!.catchUp()
      expect(await storeContents(store)).toEqual(await storeContents(inMemory))
    }
  })
  await fc.assert(check, { numRuns: howMany(10, 150) })
})

test('after random work of two processes at once both have the same, which is in the database', async () => {
  const check = fc.asyncProperty(operationGroups, operationGroups, async (ofOne, ofTwo) => {
    const address = newAddress()
    await using one = await openMemberStore(address, 'one', systemClock())
    await using two = await openMemberStore(address, 'two', systemClock())
    const work = async (store: typeof one, groups: typeof ofOne) => {
      for (const group of groups) await doOperations(store, group)
    }
    await Promise.all([work(one, ofOne), work(two, ofTwo)])
    await Promise.all([one.others!.catchUp(), two.others!.catchUp()])
    const contents = await storeContents(one)
    expect(await storeContents(two)).toEqual(contents)
    await using again = await openMemberStore(address, 'three', systemClock())
    expect(await storeContents(again)).toEqual(contents)
  })
  await fc.assert(check, { numRuns: howMany(10, 150) })
})

test('a node that takes the uuid of another in one transaction is another for all processes', async () => {
  const address = newAddress()
  await using one = await openMemberStore(address, 'one', systemClock())
  await using two = await openMemberStore(address, 'two', systemClock())
  const history = [
    { uuid: 'h', created_at: AT, severity: 'INFO' as const, event: 'e', event_type: 't', conductor: 'c' },
  ]
  await one.createNode(node('a', { name: 'first' }))
  await one.commit({ node: 'a', expect: 1, history })
  await two.others!.catchUp()
  const [, second] = await Promise.all([one.removeNode('a', 2), one.createNode(node('a', { name: 'second' }))])
  await two.others!.catchUp()
  await using again = await openMemberStore(address, 'three', systemClock())
  for (const store of [one, two, again]) {
    expect(await store.node('a')).toMatchObject({ revision: 1, node: { name: 'second', id: second.node.id } })
    expect(await store.history('a')).toEqual([])
  }
})
