import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'vitest'
import type { Random } from '../../../base/runtime/index.js'
import type { ProvisionState } from '../../../base/wire/index.js'
import { REAL_PEER_TIMEOUT } from '../../real/limits.js'

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

interface Answer {
  /** Null without one. */
  readonly status: number | null
  readonly body: Record<string, unknown>
  readonly retryAfter: string | null
}

/** One call; without an answer its status is null. */
export async function callIronic(port: number, method: string, path: string, body?: unknown): Promise<Answer> {
  const headers = { 'x-openstack-ironic-api-version': '1.80', 'content-type': 'application/json' }
  try {
    const init = { method, headers, signal: AbortSignal.timeout(20_000) }
    const answer = await fetch(
      `http://127.0.0.1:${port}/v1${path}`,
      body === undefined ? init : { ...init, body: JSON.stringify(body) },
    )
    const text = await answer.text()
    const parsed = text.startsWith('{') ? (JSON.parse(text) as Answer['body']) : {}
    return { status: answer.status, body: parsed, retryAfter: answer.headers.get('retry-after') }
  } catch {
    return { status: null, body: {}, retryAfter: null }
  }
}

/** A client that changes one node through any of the processes, and remembers what was acknowledged. */
class NodeClient {
  /** Values of `description` that the node may have: the last one that was acknowledged, and those after it. */
  possible = ['0']
  acknowledged = 0
  /** Calls that were refused because of the database. */
  away = 0
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
    // An API sees a new conductor a moment later.
    const create = async () => (await callIronic(this.#port, 'POST', '/nodes', fields)).status
    await expect.poll(create, { timeout: REAL_PEER_TIMEOUT }).toBe(201)
  }

  async workUntil(signal: AbortSignal): Promise<void> {
    for (let count = 1; !signal.aborted; count++) {
      await this.#describe(String(count))
      await this.#provision()
    }
  }

  node(): Promise<Answer> {
    return callIronic(this.#port, 'GET', `/nodes/${this.name}`)
  }

  async #describe(value: string): Promise<void> {
    this.possible.push(value)
    const patch = [{ op: 'replace', path: '/description', value }]
    if (!this.#isDone(await callIronic(this.#port, 'PATCH', `/nodes/${this.name}`, patch))) return
    this.possible = [value]
    this.acknowledged++
  }

  async #provision(): Promise<void> {
    const { status, body } = await this.node()
    const target = NEXT_VERB[body['provision_state'] as ProvisionState]
    if (status !== 200 || target === undefined) return void (await sleep(20))
    this.#isDone(await callIronic(this.#port, 'PUT', `/nodes/${this.name}/states/provision`, { target }))
  }

  #isDone({ status, body, retryAfter }: Answer): boolean {
    if (status === null) return false
    if (status < 300) return true
    const text = `${status} ${JSON.stringify(body)}`
    const isOfDatabase = status === 503 && text.includes('atabase')
    if (isOfDatabase) this.away++
    if (!TRY_AGAIN.has(status) || (isOfDatabase && retryAfter === null)) this.unexpected.push(text)
    return false
  }
}

/** Clients at work, each on a node of its own. */
export class WorkingClients implements AsyncDisposable {
  readonly #stop = new AbortController()
  readonly #working: Promise<unknown>

  private constructor(private readonly clients: readonly NodeClient[]) {
    this.#working = Promise.all(clients.map((client) => client.workUntil(this.#stop.signal)))
  }

  /** @param ports of the APIs */
  static async open(count: number, ports: readonly number[], random: Random): Promise<WorkingClients> {
    const clients = Array.from({ length: count }, (_, place) => new NodeClient(`node-${place}`, ports, random))
    for (const client of clients) await client.create()
    return new WorkingClients(clients)
  }

  /** Calls that were refused because of the database. */
  get away(): number {
    return this.clients.reduce((sum, { away }) => sum + away, 0)
  }

  /** Resolves when each client has had some more changes acknowledged. */
  async goOn(more: number): Promise<void> {
    const before = this.clients.map(({ acknowledged }) => acknowledged)
    const isSo = (): boolean => this.clients.every(({ acknowledged }, place) => acknowledged >= before[place]! + more)
    await expect.poll(isSo, { timeout: REAL_PEER_TIMEOUT }).toBe(true)
  }

  /**
   * Waits until each client has had some changes acknowledged, ends the clients, and expects that each change that was acknowledged is there, that no call failed otherwise than with a
   * request to send it again, and that every node rests without a reservation.
   *
   * @param least changes of each client, at least
   */
  async expectAllAcknowledged(least: number): Promise<void> {
    const fewest = (): number => Math.min(...this.clients.map(({ acknowledged }) => acknowledged))
    await expect.poll(fewest, { timeout: REAL_PEER_TIMEOUT }).toBeGreaterThanOrEqual(least)
    await this[Symbol.asyncDispose]()
    for (const client of this.clients) {
      expect(client.unexpected, client.name).toEqual([])
      let body: Answer['body'] = {}
      const look = async (): Promise<unknown> => (body = (await client.node()).body)
      await expect
        .poll(look, { timeout: REAL_PEER_TIMEOUT })
        .toMatchObject({ reservation: null, target_provision_state: null })
      expect(client.possible, client.name).toContain(body['description'])
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort()
    await this.#working
  }
}
