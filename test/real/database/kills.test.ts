import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { Scope, seededRandom, type Random } from '../../../base/runtime/index.js'
import type { ProvisionState } from '../../../base/wire/index.js'
import { fixedPort, UpProcess } from '../../kit/commands/up-process.js'
import { howMany } from '../../kit/how-many.js'
import { PostgresServer } from '../postgres.js'

const PROCESSES = 3
const NODES = 12
/** Milliseconds between two kills, and for which a process is gone. */
const PAUSE = 1500
const GONE = 700

/** The verb that a client asks of a node in a state, so that it goes round and round. */
const NEXT_VERB: Partial<Record<ProvisionState, string>> = {
  enroll: 'manage',
  manageable: 'provide',
  'clean failed': 'manage',
  available: 'active',
  active: 'deleted',
  'deploy failed': 'deleted',
  error: 'deleted',
}
/** Answers that tell a client to try again: locked or in another state by now, or no conductor, or no database. */
const TRY_AGAIN = new Set([400, 409, 503])

/** Ironics of one database on fixed ports, of which some are killed and started again. */
class KilledIronics implements AsyncDisposable {
  readonly #processes: UpProcess[] = []

  private constructor(
    private readonly argv: readonly string[],
    readonly ports: readonly number[],
  ) {}

  static async open(database: string, random: Random): Promise<KilledIronics> {
    const ports = await Promise.all(Array.from({ length: PROCESSES }, () => fixedPort(() => random.next())))
    const all = new KilledIronics(['--database', database, '--no-ui', '--speed', '20'], ports)
    for (const index of ports.keys()) await all.start(index)
    return all
  }

  async start(index: number): Promise<void> {
    const own = ['--port', String(this.ports[index]), '--set', `DEFAULT.host=ironic-${index}`]
    const up = new UpProcess([...this.argv, ...own])
    this.#processes[index] = up
    await up.ready
  }

  async kill(index: number): Promise<void> {
    await this.#processes[index]!.kill()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#processes.filter((up) => up.alive).map((up) => up.kill()))
  }
}

interface Answer {
  /** Null without one. */
  readonly status: number | null
  readonly body: Record<string, unknown>
}

async function call(port: number, method: string, path: string, body?: unknown): Promise<Answer> {
  const headers = { 'x-openstack-ironic-api-version': '1.80', 'content-type': 'application/json' }
  try {
    const init = { method, headers, signal: AbortSignal.timeout(20_000) }
    const answer = await fetch(
      `http://127.0.0.1:${port}/v1${path}`,
      body === undefined ? init : { ...init, body: JSON.stringify(body) },
    )
    const text = await answer.text()
    return { status: answer.status, body: text.startsWith('{') ? (JSON.parse(text) as Answer['body']) : {} }
  } catch {
    return { status: null, body: {} }
  }
}

/** A client that changes one node through any of the processes, and remembers what was acknowledged. */
class NodeClient {
  /** Values of `description` that the node may have: the last one that was acknowledged, and those after it. */
  possible = ['0']
  acknowledged = 0
  readonly unexpected: string[] = []

  constructor(
    readonly name: string,
    private readonly ports: readonly number[],
    private readonly random: Random,
  ) {}

  get #port(): number {
    return this.ports[Math.floor(this.random.next() * this.ports.length)]!
  }

  async create(): Promise<void> {
    const fields = {
      name: this.name,
      driver: 'fake-hardware',
      deploy_interface: 'fake',
      boot_interface: 'fake',
      description: '0',
    }
    expect((await call(this.#port, 'POST', '/nodes', fields)).status).toBe(201)
  }

  async workUntil(signal: AbortSignal): Promise<void> {
    for (let count = 1; !signal.aborted; count++) {
      await this.#describe(String(count))
      await this.#provision()
    }
  }

  node(): Promise<Answer> {
    return call(this.#port, 'GET', `/nodes/${this.name}`)
  }

  async #describe(value: string): Promise<void> {
    this.possible.push(value)
    const patch = [{ op: 'replace', path: '/description', value }]
    if (!this.#isDone(await call(this.#port, 'PATCH', `/nodes/${this.name}`, patch))) return
    this.possible = [value]
    this.acknowledged++
  }

  async #provision(): Promise<void> {
    const { status, body } = await this.node()
    const target = NEXT_VERB[body['provision_state'] as ProvisionState]
    if (status !== 200 || target === undefined) return void (await sleep(20))
    this.#isDone(await call(this.#port, 'PUT', `/nodes/${this.name}/states/provision`, { target }))
  }

  #isDone({ status, body }: Answer): boolean {
    if (status !== null && status < 300) return true
    if (status !== null && !TRY_AGAIN.has(status)) this.unexpected.push(`${status} ${JSON.stringify(body)}`)
    return false
  }
}

test('kills of processes and of the database lose nothing that was acknowledged, and leave no node stuck', async () => {
  await using scope = new Scope()
  const server = scope.use(await PostgresServer.open({ access: ['host all postgres 127.0.0.1/32 trust'] }))
  const random = seededRandom(Date.now() % 100_000)
  const database = `postgres://postgres@127.0.0.1:${server.port}/postgres`
  const ironics = scope.use(await KilledIronics.open(database, random))
  const clients = Array.from({ length: NODES }, (_, n) => new NodeClient(`node-${n}`, ironics.ports, random))
  for (const client of clients) await client.create()
  const stop = new AbortController()
  const working = Promise.all(clients.map((client) => client.workUntil(stop.signal)))

  const kills = howMany(10, 60)
  for (let kill = 1; kill <= kills; kill++) {
    await sleep(PAUSE * random.next())
    const index = Math.floor(random.next() * PROCESSES)
    await ironics.kill(index)
    await sleep(GONE * random.next())
    await ironics.start(index)
    // Three times of ten.
    if (kill % 3 === 0) await server.restart('immediate')
  }
  await sleep(PAUSE)
  stop.abort()
  await working

  for (const client of clients) {
    expect(client.unexpected, client.name).toEqual([])
    expect(client.acknowledged, client.name).toBeGreaterThan(kills / 2)
    const look = async (): Promise<unknown> => (await client.node()).body
    await expect.poll(look, { timeout: 60_000 }).toMatchObject({ reservation: null, target_provision_state: null })
    const { body } = await client.node()
    expect(client.possible, client.name).toContain(body['description'])
  }
}, 600_000)
