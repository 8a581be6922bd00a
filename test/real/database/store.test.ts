import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { Scope, VirtualClock, systemClock } from '../../../base/runtime/index.js'
import { StaleRevision } from '../../../ironic-mock/store/store.js'
import { addressOf, openMemberStore } from '../../kit/members/member-cluster.js'
import { node } from '../../kit/store-records.js'
import { testStore } from '../../kit/store/store-contract.js'
import { PostgresServer } from '../postgres.js'

let server: PostgresServer
beforeAll(async () => {
  server = await PostgresServer.open({ access: ['host all all 127.0.0.1/32 trust'] })
})
afterAll(() => server[Symbol.asyncDispose]())

let scope = new Scope()
let schemas = 0
afterEach(async () => {
  await scope[Symbol.asyncDispose]()
  scope = new Scope()
})

const newAddress = () => addressOf(server, `store-${++schemas}`)

describe('a store in PostgreSQL', () =>
  testStore(async (clock = new VirtualClock()) => scope.use(await openMemberStore(newAddress(), 'one', clock))))

test('a process that has caught up sees what another has acknowledged; of two changes of a revision one is refused', async () => {
  const address = newAddress()
  const one = await openMemberStore(address, 'one', systemClock())
  const two = await openMemberStore(address, 'two', systemClock())
  scope.use(one)
  scope.use(two)
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

test('changes that were acknowledged are there after the server ended at once, and writes meanwhile wait for it', async () => {
  const address = newAddress()
  const store = scope.use(await openMemberStore(address, 'one', systemClock()))
  await store.createNode(node('a'))
  await server.stop('immediate')
  const waiting = store.commit({ node: 'a', expect: 1, patch: { description: 'later' } })
  await server.start()
  expect(await waiting).toBe(2)
  const other = scope.use(await openMemberStore(address, 'two', systemClock()))
  expect((await other.node('a'))?.node.description).toBe('later')
})
