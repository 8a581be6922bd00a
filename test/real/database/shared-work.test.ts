import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { randomUuid, seededRandom } from '../../../base/runtime/index.js'
import type { NodeRecord } from '../../../base/wire/index.js'
import type { DatabaseAddress } from '../../../ironic-mock/store/postgres/database-address.js'
import { addressOf } from '../../kit/members/member-cluster.js'
import { openSharedConductor, SharedMachines, type SharedConductor } from '../../kit/members/shared-conductors.js'
import { PostgresServer } from '../postgres.js'

let server: PostgresServer
beforeAll(async () => {
  server = await PostgresServer.open({ access: ['host all postgres 127.0.0.1/32 trust'] })
})
afterAll(() => server[Symbol.asyncDispose]())

let schemas = 0
const newSchema = (): DatabaseAddress => addressOf(server, `work${++schemas}`)

const BMC = 'http://bmc-1'
/** Belongs to conductor-1, by the ring of conductor-0 and conductor-1. */
const NODE = '1be26c0b-03f2-4d2e-ae87-c02d7f33c120'

async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  await expect.poll(isSo, { interval: 5 }).toBe(true)
}

async function nodeOf({ store }: SharedConductor): Promise<NodeRecord> {
  await store.others!.catchUp()
  return store.records.nodes.get(NODE)!.copy()
}

const isFree = async (seen: SharedConductor): Promise<boolean> => (await nodeOf(seen)).reservation === null

async function enroll({ conductor }: SharedConductor): Promise<void> {
  await conductor.createNode({ uuid: NODE, driver: 'redfish', driver_info: { redfish_address: BMC } })
}

async function manageable(seen: SharedConductor): Promise<void> {
  await enroll(seen)
  await seen.conductor.provision(NODE, { target: 'manage' })
  await until(async () => (await nodeOf(seen)).provision_state === 'manageable' && (await isFree(seen)))
}

test('an API that has no nodes accepts work, and the conductor of the node does it', async () => {
  const address = newSchema()
  const machines = new SharedMachines()
  await using api = await openSharedConductor(address, machines, { host: 'api-0', role: 'api' })
  await expect(enroll(api)).rejects.toMatchObject({
    status: 503,
    message: 'Resource temporarily unavailable, please retry.',
  })
  await using worker = await openSharedConductor(address, machines, { host: 'conductor-0', role: 'conductor' })
  await until(() => api.members.serves('', 'redfish'))
  await manageable(api)
  const open = machines.at(BMC).hold()
  await api.conductor.changePower(NODE, 'power on')
  expect(await nodeOf(worker)).toMatchObject({ reservation: 'conductor-0', target_power_state: 'power on' })
  expect(api.conductor.holderOf(await nodeOf(api))).toBe('conductor-0')
  await until(() => machines.at(BMC).calls.length > 0)
  open()
  await until(() => isFree(api))
  expect(await nodeOf(api)).toMatchObject({ power_state: 'power on', last_error: null })
  expect(machines.at(BMC).calls).toEqual(['conductor-0: power on'])
  expect(api.conductor.drivers().map(({ name, hosts }) => [name, hosts])).toContainEqual(['redfish', ['conductor-0']])
})

test('work goes on at a conductor that joins, which gets the node when the running effect has ended', async () => {
  const address = newSchema()
  const machines = new SharedMachines()
  await using first = await openSharedConductor(address, machines, { host: 'conductor-0' })
  await manageable(first)
  const machine = machines.at(BMC)
  machine.state = 'power on'
  const open = machine.hold()
  await first.conductor.provision(NODE, { target: 'provide' })
  await until(() => machine.calls.length > 0)
  await using second = await openSharedConductor(address, machines, { host: 'conductor-1' })
  await until(async () => first.members.holderOf(await nodeOf(first)) === 'conductor-1')
  await sleep(200)
  expect(second.members.owns(await nodeOf(second))).toBe(false)
  open()
  await until(async () => (await nodeOf(second)).provision_state === 'clean wait' && (await isFree(second)))
  const { calls } = machine
  expect(calls.filter((call) => call.startsWith('conductor-0'))).toHaveLength(1)
  expect(calls.filter((call) => call.startsWith('conductor-1')).length).toBeGreaterThan(0)
  expect(new Set(calls.map((call) => call.split(': ')[1])).size).toBe(calls.length)
  expect((await nodeOf(second)).last_error).toBeNull()
})

test('work of a conductor that dies fails as upstream says, and what its effect did afterwards is not recorded', async () => {
  const address = newSchema()
  const machines = new SharedMachines()
  await using second = await openSharedConductor(address, machines, { host: 'conductor-0' })
  await using first = await openSharedConductor(address, machines, { host: 'conductor-1' })
  await manageable(second)
  const machine = machines.at(BMC)
  machine.state = 'power on'
  const open = machine.hold()
  await until(async () => first.members.owns(await nodeOf(first)))
  await second.conductor.provision(NODE, { target: 'provide' })
  await until(() => machine.calls.length > 0)
  expect(machine.calls[0]).toMatch(/^conductor-1/)
  expect((await nodeOf(second)).reservation).toBe('conductor-1')
  first.kill()
  await until(() => isFree(second))
  open()
  await sleep(200)
  expect(await nodeOf(second)).toMatchObject({
    provision_state: 'clean failed',
    reservation: null,
    last_error: 'Operation was aborted due to conductor take over',
  })
  expect(machine.calls).toHaveLength(1)
  expect(await second.store.effects(NODE)).toEqual([])
})

test('a pending power change of a dead conductor is aborted', async () => {
  const address = newSchema()
  const machines = new SharedMachines()
  await using second = await openSharedConductor(address, machines, { host: 'conductor-0' })
  await using first = await openSharedConductor(address, machines, { host: 'conductor-1' })
  await manageable(second)
  const open = machines.at(BMC).hold()
  await until(async () => first.members.owns(await nodeOf(first)))
  await second.conductor.changePower(NODE, 'power on')
  await until(() => machines.at(BMC).calls.length > 0)
  first.kill()
  await until(() => isFree(second))
  open()
  expect(await nodeOf(second)).toMatchObject({
    target_power_state: null,
    last_error: 'Pending power operation was aborted due to conductor take over',
  })
})

test('work whose database was away for a moment goes on where no other conductor had the node', async () => {
  const address = newSchema()
  const machines = new SharedMachines()
  await using only = await openSharedConductor(address, machines, { host: 'conductor-1' })
  await manageable(only)
  const machine = machines.at(BMC)
  const open = machine.hold()
  await only.conductor.changePower(NODE, 'power on')
  await until(() => machine.calls.length > 0)
  await server.sql(`select pg_terminate_backend(${only.store.others!.session.backend})`)
  await until(() => only.store.others!.session.generation > 1)
  open()
  await until(() => isFree(only))
  expect(await nodeOf(only)).toMatchObject({ power_state: 'power on', last_error: null })
  // The effect looks at the power before it acts.
  expect(machine.calls).toEqual(['conductor-1: power on'])
})

test('a call of an API that reaches the BMC reserves the node; the reservation ends with its process', async () => {
  const address = newSchema()
  const machines = new SharedMachines()
  await using worker = await openSharedConductor(address, machines, { host: 'conductor-1' })
  await using api = await openSharedConductor(address, machines, { host: 'api-0', role: 'api' })
  await until(() => api.members.serves('', 'redfish'))
  await manageable(api)
  const machine = machines.at(BMC)
  await api.conductor.setBootDevice(NODE, 'disk', false)
  expect(await nodeOf(worker)).toMatchObject({ reservation: null })
  const open = machine.hold()
  const set = api.conductor.setBootDevice(NODE, 'cdrom', false)
  set.catch(() => {})
  await until(() => machine.calls.length === 2)
  expect(await nodeOf(worker)).toMatchObject({ reservation: 'api-0' })
  await expect(worker.conductor.changePower(NODE, 'power on')).rejects.toMatchObject({ status: 409 })
  api.kill()
  await until(() => isFree(worker))
  open()
  await worker.conductor.changePower(NODE, 'power on')
  await until(() => isFree(worker))
  expect(await nodeOf(worker)).toMatchObject({ power_state: 'power on' })
})

test('a time limit is kept by the conductor that gets the node', async () => {
  const address = newSchema()
  const machines = new SharedMachines()
  const conf = { cleanCallbackTimeout: 3000 }
  await using second = await openSharedConductor(address, machines, { host: 'conductor-0' }, conf)
  await using first = await openSharedConductor(address, machines, { host: 'conductor-1' }, conf)
  await manageable(second)
  await until(async () => first.members.owns(await nodeOf(first)))
  await second.conductor.provision(NODE, { target: 'provide' })
  await until(async () => (await nodeOf(second)).provision_state === 'clean wait' && (await isFree(second)))
  first.kill()
  await until(async () => (await nodeOf(second)).provision_state === 'clean failed')
  expect((await nodeOf(second)).last_error).toContain('Timeout reached while cleaning the node.')
})

test('an allocation that an API has accepted gets its node from a conductor', async () => {
  const address = newSchema()
  const machines = new SharedMachines()
  await using worker = await openSharedConductor(address, machines, { host: 'conductor-1' })
  await using api = await openSharedConductor(address, machines, { host: 'api-0', role: 'api' })
  await until(() => api.members.serves('', 'redfish'))
  const { uuid } = await api.conductor.resources.allocate({ name: 'wanted', resource_class: 'none-has-it' })
  const found = () => worker.store.records.resources('allocation').byUuid.get(uuid)
  await until(() => found()?.state === 'error')
  expect(found()?.last_error).toContain('no available nodes match the resource class none-has-it')
})

test('a node whose group has no conductor is refused as upstream does', async () => {
  const address = newSchema()
  const machines = new SharedMachines()
  await using worker = await openSharedConductor(address, machines, { host: 'conductor-1', group: 'rack-1' })
  await expect(enroll(worker)).rejects.toMatchObject({
    status: 400,
    message:
      'No valid host was found. Reason: No conductor service registered which supports driver redfish for conductor group "". Ensure the driver is valid and enabled.',
  })
})

test('calls about the hardware of a node that no conductor has are refused as upstream does', async () => {
  const address = newSchema()
  const machines = new SharedMachines()
  await using api = await openSharedConductor(address, machines, { host: 'api-0', role: 'api' })
  const first = await openSharedConductor(address, machines, { host: 'conductor-0' })
  await until(() => api.members.serves('', 'redfish'))
  await manageable(api)
  await first[Symbol.asyncDispose]()
  await until(() => !api.members.serves('', 'redfish'))
  const { hardware, network } = api.conductor
  const refusals = async (): Promise<unknown[]> => {
    const calls = [
      hardware.setBootMode(NODE, 'uefi'),
      hardware.setSecureBoot(NODE, true),
      hardware.injectNmi(NODE),
      hardware.indicators(NODE),
      hardware.console(NODE),
      hardware.callVendor(NODE, { method: 'get_all_subscriptions', http: 'GET', data: undefined }),
      hardware.media(NODE),
      hardware.detachMedia(NODE, null),
      network.vifs(NODE),
    ]
    const settled = await Promise.allSettled(calls)
    return settled.map((call) => (call.status === 'rejected' ? (call.reason as { status: number }).status : call.value))
  }
  expect(await refusals()).toEqual(Array.from({ length: 9 }, () => 503))
  await using _other = await openSharedConductor(address, machines, { host: 'conductor-1', group: 'rack-1' })
  await until(() => api.members.serves('rack-1', 'redfish'))
  expect(await refusals()).toEqual([404, 404, 404, 404, 404, 404, 400, 400, 400])
  expect(machines.at(BMC).calls).toEqual([])
})

test('through random deaths, broken connections and joins no node is stuck, and no power change is made twice', async () => {
  const address = newSchema()
  const machines = new SharedMachines(10)
  const random = seededRandom(39)
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random.next() * list.length)]!
  const hosts = ['conductor-0', 'conductor-1', 'conductor-2']
  const open = (host: string) => openSharedConductor(address, machines, { host })
  await using api = await openSharedConductor(address, machines, { host: 'api-0', role: 'api' })
  const conductors = new Map<string, SharedConductor>()
  for (const host of hosts) conductors.set(host, await open(host))
  try {
    await until(() => api.members.conductors().length === hosts.length)
    const nodes = Array.from({ length: 24 }, () => randomUuid(random))
    for (const [place, uuid] of nodes.entries()) {
      const driver_info = { redfish_address: `http://bmc-${place}` }
      await api.conductor.createNode({ uuid, driver: 'redfish', driver_info })
      await api.conductor.provision(uuid, { target: 'manage' })
    }
    const states = async () => {
      await api.store.others!.catchUp()
      return nodes.map((uuid) => api.store.records.nodes.get(uuid)!.record)
    }
    await until(async () => (await states()).every((node) => node.provision_state === 'manageable'))
    const accepted = new Map(nodes.map((uuid) => [uuid, 0]))
    const began = performance.now()
    const passed = () => performance.now() - began
    // A slow machine has longer, so that each node is worked on.
    const isEnough = () => passed() > 8000 && Math.min(...accepted.values()) > 5
    for (let round = 0; !isEnough(); round++) {
      for (const uuid of nodes) {
        const target = pick(['power on', 'power off', 'rebooting'])
        const seen = pick([api, ...conductors.values()])
        await seen.conductor.changePower(uuid, target).then(
          () => accepted.set(uuid, (accepted.get(uuid) ?? 0) + 1),
          () => {},
        )
      }
      await sleep(30)
      const host = pick(hosts)
      const victim = conductors.get(host)!
      if (round % 3 === 0) await server.sql(`select pg_terminate_backend(${victim.store.others!.session.backend ?? 0})`)
      if (round % 3 === 1) {
        victim.kill()
        conductors.set(host, await open(host))
      }
      if (round % 3 === 2) {
        await victim[Symbol.asyncDispose]()
        conductors.set(host, await open(host))
      }
    }
    await until(async () => (await states()).every(({ reservation }) => reservation === null))
    for (const [place, uuid] of nodes.entries()) {
      const { record } = api.store.records.nodes.get(uuid)!
      expect(record).toMatchObject({ target_power_state: null, provision_state: 'manageable' })
      expect(machines.at(`http://bmc-${place}`).calls.length).toBeLessThanOrEqual(accepted.get(uuid) ?? 0)
      expect(await api.store.effects(uuid)).toEqual([])
    }
  } finally {
    for (const conductor of conductors.values()) await conductor[Symbol.asyncDispose]()
  }
})
