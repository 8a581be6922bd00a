import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { randomUuid, Scope, seededRandom } from '../../../base/runtime/index.js'
import { CuttableLink } from '../../kit/cuttable-link.js'
import { ironicElsewhere } from '../../kit/fleet/fleet-and-ironic.js'
import { howMany } from '../../kit/how-many.js'
import { addressOf } from '../../kit/members/member-cluster.js'
import { WorkingClients } from '../../kit/members/node-client.js'
import { openSharedConductor, SharedMachines, type SharedConductor } from '../../kit/members/shared-conductors.js'
import { UpIronics } from '../../kit/members/up-ironics.js'
import { startTimer } from '../../kit/passed-time.js'
import { REAL_PEER_TIMEOUT } from '../limits.js'
import { PostgresServer } from '../postgres.js'

/** Processes whose connections to the database break in every way in which a network breaks them. */

let server: PostgresServer
beforeAll(async () => {
  server = await PostgresServer.open({ access: ['host all postgres 127.0.0.1/32 trust'] })
})
afterAll(() => server[Symbol.asyncDispose]())

/** Milliseconds for which a link is in trouble: a stalled one for longer than its process waits for an answer. */
const MOMENT = 400
const STALL = 8000

type LinkTrouble = (link: CuttableLink) => Promise<void>

const TROUBLES: readonly (readonly [string, LinkTrouble])[] = [
  ['cuts', (link) => Promise.resolve(link.cut())],
  ['half-closes from the client', (link) => Promise.resolve(link.halfClose('client'))],
  ['half-closes from the server', (link) => Promise.resolve(link.halfClose('server'))],
  [
    'delays',
    async (link) => {
      link.slow(80)
      await sleep(MOMENT)
      link.slow(0)
    },
  ],
  [
    'loses bytes of',
    async (link) => {
      link.freeze()
      await sleep(MOMENT)
      link.cut()
      link.thaw()
    },
  ],
  [
    'stalls',
    async (link) => {
      link.stall()
      await sleep(STALL)
      link.cut()
      link.resume()
    },
  ],
]

test('a network that cuts, half-closes, delays and stalls the connections loses nothing, and shows no error of its own', async () => {
  await using scope = new Scope()
  const random = seededRandom(Date.now() % 100_000)
  const roles = ['api', 'api', 'conductor', 'conductor'] as const
  const links: CuttableLink[] = []
  for (const _ of roles) links.push(scope.use(await CuttableLink.open(server.port)))
  const databases = links.map(({ port }) => `postgres://postgres@127.0.0.1:${port}/postgres`)
  const ironics = scope.use(await UpIronics.open(databases, roles, random))
  const clients = scope.use(await WorkingClients.open(12, ironics.apis, random))
  const anyLink = () => links[Math.floor(random.next() * links.length)]!
  for (let round = 0; round < howMany(1, 10); round++)
    for (const [, trouble] of TROUBLES) {
      const first = anyLink()
      const second = anyLink()
      await Promise.all([...new Set([first, second])].map((link) => trouble(link)))
      await clients.goOn(1)
    }
  await clients.expectAllAcknowledged(TROUBLES.length)
}, 600_000)

test('a call is refused with Retry-After while the link stalls, and so is a change; both go on when it does', async () => {
  await using scope = new Scope()
  const link = scope.use(await CuttableLink.open(server.port))
  const database = { address: addressOf(link, 'stalled'), role: 'all' as const }
  const { url } = scope.use(await ironicElsewhere({ speed: 1, database }))
  // A process that is alone would answer from its memory for a moment.
  const address = addressOf(server, 'stalled')
  const set = ['DEFAULT.host=other']
  scope.use(await ironicElsewhere({ speed: 1, database: { address, role: 'api' }, ironic: { set } }))
  const headers = { 'x-openstack-ironic-api-version': '1.80', 'content-type': 'application/json' }
  const create = (name: string) =>
    fetch(`${url}/v1/nodes`, { method: 'POST', headers, body: JSON.stringify({ name, driver: 'fake-hardware' }) })
  const list = () => fetch(`${url}/v1/nodes`, { headers })
  expect((await create('before')).status).toBe(201)
  link.stall()
  const passed = startTimer()
  const refused = await Promise.all([create('meanwhile'), list()])
  for (const answer of refused) {
    expect(answer.status).toBe(503)
    expect(answer.headers.get('retry-after')).toBe('5')
  }
  expect(passed().unhindered).toBeLessThan(30_000)
  link.resume()
  await expect.poll(async () => (await create('after')).status, { timeout: REAL_PEER_TIMEOUT }).toBe(201)
  expect(((await (await list()).json()) as { nodes: unknown[] }).nodes).toHaveLength(2)
})

test('behind such a network no power change is made twice', async () => {
  await using scope = new Scope()
  const address = addressOf(server, 'links')
  const machines = new SharedMachines(10)
  const random = seededRandom(39)
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random.next() * list.length)]!
  const api = scope.use(await openSharedConductor(address, machines, { host: 'api-0', role: 'api' }))
  const links: CuttableLink[] = []
  const conductors: SharedConductor[] = []
  for (const host of ['conductor-0', 'conductor-1']) {
    const link = scope.use(await CuttableLink.open(server.port))
    links.push(link)
    conductors.push(scope.use(await openSharedConductor(addressOf(link, address.schema), machines, { host })))
  }
  await expect.poll(() => api.members.conductors().length).toBe(conductors.length)
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
  const isManageable = async () => (await states()).every((node) => node.provision_state === 'manageable')
  await expect.poll(isManageable, { timeout: REAL_PEER_TIMEOUT }).toBe(true)

  const accepted = new Map(nodes.map((uuid) => [uuid, 0]))
  const stop = new AbortController()
  const working = nodes.map(async (uuid) => {
    while (!stop.signal.aborted) {
      const accept = api.conductor.changePower(uuid, pick(['power on', 'power off', 'rebooting']))
      await accept.then(
        () => accepted.set(uuid, accepted.get(uuid)! + 1),
        () => {},
      )
      await sleep(30)
    }
  })
  for (let round = 0; round < howMany(1, 10); round++)
    for (const [, trouble] of TROUBLES) {
      await trouble(pick(links))
      await sleep(MOMENT)
    }
  await expect.poll(() => Math.min(...accepted.values())).toBeGreaterThan(5)
  stop.abort()
  await Promise.all(working)
  const rests = async () => (await states()).every(({ reservation }) => reservation === null)
  await expect.poll(rests, { timeout: REAL_PEER_TIMEOUT }).toBe(true)
  for (const [place, uuid] of nodes.entries()) {
    const { record } = api.store.records.nodes.get(uuid)!
    expect(record).toMatchObject({ target_power_state: null, provision_state: 'manageable' })
    expect(machines.at(`http://bmc-${place}`).calls.length).toBeLessThanOrEqual(accepted.get(uuid)!)
    expect(await api.store.effects(uuid)).toEqual([])
  }
}, 600_000)
