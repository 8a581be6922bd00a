import { afterAll, beforeAll, expect, test } from 'vitest'
import { systemClock } from '../../../base/runtime/index.js'
import { FaultRows } from '../../../ironic-mock/members/fault-rows.js'
import { CuttableLink } from '../../kit/cuttable-link.js'
import { addressOf, openMemberStore } from '../../kit/members/member-cluster.js'
import { PostgresServer } from '../postgres.js'

let server: PostgresServer
beforeAll(async () => {
  server = await PostgresServer.open({ access: ['host all all 127.0.0.1/32 trust'] })
})
afterAll(() => server[Symbol.asyncDispose]())

const FAULT = { label: null, fault: '{}', times: 3, after: 0, probability: 1 }

test('a strike whose answer is lost with the connection is made once, and counted once', async () => {
  await using link = await CuttableLink.open(server.port)
  await using store = await openMemberStore(addressOf(link, 'lost'), 'one', systemClock())
  const faults = new FaultRows(store.others!.session)
  const { ids } = await faults.add([FAULT])
  const id = ids[0]!
  expect(await faults.claim(id, 0)).toEqual({ strikes: true, struck: 1 })
  link.stall('server')
  const claim = faults.claim(id, 0)
  await expect.poll(() => server.sql('select struck from lost.faults')).toBe('2')
  link.cut()
  link.resume()
  expect(await claim).toEqual({ strikes: true, struck: 2 })
  expect(await faults.claim(id, 0)).toEqual({ strikes: true, struck: 3 })
  expect(await faults.claim(id, 0)).toBeUndefined()
  expect(await server.sql('select passed, struck from lost.faults')).toBe('3|3')
  // The claims whose answers have come are forgotten by those after them.
  expect(await server.sql('select count(*) from lost.fault_claims')).toBe('0')
})

test('while the database is away nothing strikes, and nothing waits', async () => {
  await using link = await CuttableLink.open(server.port)
  await using store = await openMemberStore(addressOf(link, 'away'), 'one', systemClock())
  const { session } = store.others!
  const faults = new FaultRows(session)
  const { ids } = await faults.add([FAULT])
  link.refuse()
  await expect.poll(() => session.backend).toBeNull()
  await expect(faults.claim(ids[0]!, 0)).rejects.toThrow('the database is away')
  link.accept()
  await expect.poll(() => session.isReady).toBe(true)
  expect(await faults.claim(ids[0]!, 0)).toEqual({ strikes: true, struck: 1 })
})
