import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Fleet } from '../../../apps/fleet/index.js'
import { Scope } from '../../../base/runtime/index.js'
import type { ApiNode } from '../../../base/wire/index.js'
import type { DatabaseAddress, MemberRole } from '../../../ironic-mock/index.js'
import { installCoreos, REHEARSAL_IMAGE, type ServedLab } from '../../../lab/index.js'
import { enrolledFleet, ironicElsewhere } from '../../kit/fleet/fleet-and-ironic.js'
import { slowImage } from '../../kit/fleet/slow-image.js'
import { addressOf } from '../../kit/members/member-cluster.js'
import { PostgresServer } from '../postgres.js'

const SPEED = 20
const VERSION = { 'x-openstack-ironic-api-version': '1.49' }

interface Conductors {
  conductors: { hostname: string; alive: boolean; updated_at: string }[]
}

const conductorsOf = async (url: string): Promise<Conductors> =>
  (await (await fetch(`${url}/v1/conductors?detail=True`, { headers: VERSION })).json()) as Conductors

const NAMES = ['machine-1', 'machine-2', 'machine-3']

let server: PostgresServer
beforeAll(async () => {
  server = await PostgresServer.open({ access: ['host all postgres 127.0.0.1/32 trust'] })
})
afterAll(() => server[Symbol.asyncDispose]())

/** Ironics of one database, each as a process of its own would be, and the machines of a fleet. */
class SharedLabs implements AsyncDisposable {
  readonly scope = new Scope()

  private constructor(private readonly address: DatabaseAddress) {}

  static open(schema: string): SharedLabs {
    return new SharedLabs(addressOf(server, schema))
  }

  async add(name: string, role: MemberRole, ...set: string[]): Promise<ServedLab> {
    return this.scope.use(
      await ironicElsewhere({
        speed: SPEED,
        ironic: { set: [`DEFAULT.host=${name}`, ...set] },
        database: { address: this.address, role },
      }),
    )
  }

  fleet(ironic: ServedLab): Promise<Fleet> {
    return enrolledFleet(this.scope, { speed: SPEED, url: ironic.url, machines: { count: NAMES.length } })
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.scope[Symbol.asyncDispose]()
  }
}

async function settled({ stage: { client } }: ServedLab, name: string, state: string): Promise<ApiNode> {
  const failed = async (): Promise<string> => {
    const { provision_state: now, last_error: error } = await client.node(name)
    return /fail|error/.test(now) ? `${now}: ${error}` : now
  }
  await expect.poll(failed).toBe(state)
  return client.node(name)
}

test('two APIs and two conductors deploy the machines of a fleet, each API showing what went to the other', async () => {
  await using labs = SharedLabs.open('labs')
  const apis = [await labs.add('api-0', 'api'), await labs.add('api-1', 'api')] as const
  await labs.add('conductor-0', 'conductor')
  const worker = await labs.add('conductor-1', 'conductor')
  const [first, second] = apis
  const fleet = await labs.fleet(first)
  const { url, finish } = await slowImage(await readFile(REHEARSAL_IMAGE), labs.scope)
  finish()
  const deployment = { deploy_steps: [installCoreos({ image_url: url })] }
  const patch = [{ op: 'replace' as const, path: '/deploy_interface', value: 'custom-agent' }]
  for (const name of NAMES) {
    await first.stage.client.patchNode(name, patch)
    expect((await second.stage.client.node(name)).deploy_interface).toBe('custom-agent')
  }
  const steps = [
    ['manage', 'manageable', {}],
    ['inspect', 'manageable', {}],
    ['provide', 'available', {}],
    ['active', 'active', deployment],
  ] as const
  for (const [verb, state, more] of steps) {
    await Promise.all(NAMES.map((name, index) => apis[index % 2]!.stage.client.provision(name, verb, more)))
    await Promise.all(NAMES.map((name, index) => settled(apis[(index + 1) % 2]!, name, state)))
  }
  for (const name of NAMES) await expect.poll(() => fleet.machines.get(name)!.boot()?.outcome).toBe('disk')
  const { conductors } = await conductorsOf(first.url)
  expect(conductors.map(({ hostname, alive }) => ({ hostname, alive }))).toEqual([
    { hostname: 'conductor-0', alive: true },
    { hostname: 'conductor-1', alive: true },
  ])
  await expect(worker.stage.client.nodes()).rejects.toThrow(/conductor/)
  await expect(first.stage.ironic.stop({ keepsDatabase: false })).rejects.toMatchObject({ code: 'shared-database' })
})

test('while the database is away a call waits and then gets 503 with Retry-After; what was answered is there afterwards', async () => {
  await using labs = SharedLabs.open('away')
  const { stage, url } = await labs.add('ironic-0', 'all')
  await stage.client.createNode({ name: 'before', driver: 'fake-hardware' })
  await server.stop('immediate')
  const call = {
    headers: VERSION,
    method: 'POST',
    body: JSON.stringify({ name: 'meanwhile', driver: 'fake-hardware' }),
  }
  const json = { ...call.headers, 'content-type': 'application/json' }
  const answer = await fetch(`${url}/v1/nodes`, { ...call, headers: json })
  expect(answer.status).toBe(503)
  expect(answer.headers.get('retry-after')).toBe('5')
  expect(await answer.json()).toHaveProperty('error_message')
  await server.start()
  await stage.client.createNode({ name: 'after', driver: 'fake-hardware' })
  expect((await stage.client.nodes()).map(({ name }) => name)).toEqual(['before', 'after'])
})

test('heartbeats and their limit are those of ironic.conf, and refused where a process would always be dead', async () => {
  await using labs = SharedLabs.open('heartbeats')
  const never = labs.add('never', 'all', 'conductor.heartbeat_interval=70')
  await expect(never).rejects.toMatchObject({ code: 'ironic-config', message: expect.stringContaining('70 s') })
  const times = ['conductor.heartbeat_interval=600', 'conductor.heartbeat_timeout=1800']
  const { stage } = await labs.add('ironic-0', 'all', ...times)
  await labs.add('ironic-1', 'all', ...times)
  const seen = async () => (await conductorsOf(stage.url)).conductors.filter(({ alive }) => alive)
  await expect.poll(seen).toHaveLength(2)
  const first = await seen()
  await new Promise((resolve) => setTimeout(resolve, 5000))
  // By the times that ironstage has by itself they would have beaten by now, or be dead.
  expect(await seen()).toEqual(first)
})

test('boot files are at the conductor that has them, where the public endpoint is that of all APIs', async () => {
  await using labs = SharedLabs.open('endpoint')
  const { stage } = await labs.add('ironic-0', 'all', 'api.public_endpoint=http://ironic.example:6385')
  expect(stage.elsewhere!.bootUrl).toMatch(/^http:\/\/127\.0\.0\.1:/)
})
