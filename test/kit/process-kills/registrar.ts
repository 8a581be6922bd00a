import { expect } from 'vitest'
import { randomUuid, type Random } from '../../../base/runtime/index.js'
import type { ApiNode, ApiPort } from '../../../base/wire/index.js'
import { Counter } from './counter.js'
import { answered, pick, type Answer, type Life, type Link } from './link.js'

/** Whether a record must be there: `unknown` while a kill has swallowed the answer. */
type Presence = 'there' | 'gone' | 'unknown'

interface ExtraNode {
  presence: Presence
  counter: Counter
  /** Address -> presence. */
  ports: Map<string, Presence>
}

/** A client that creates nodes and ports, counts in them, and deletes them again. */
export class Registrar {
  readonly #link: Link
  readonly #random: Random
  readonly #nodes = new Map<string, ExtraNode>()
  #ports = 0
  changes = 0

  constructor(link: Link, random: Random) {
    this.#link = link
    this.#random = random
  }

  work(): Promise<void> {
    return this.#link.keepAt((life) => this.#next(life), 30)
  }

  async #next(life: Life): Promise<void> {
    const there = [...this.#nodes].filter(([, { presence }]) => presence === 'there')
    const [name, node] = pick(this.#random, there) ?? []
    const dice = this.#random.next()
    this.changes++
    if (name === undefined || !node || (dice < 0.2 && there.length < 8)) return this.#createNode(life)
    if (dice < 0.5) return node.counter.count(life, name)
    if (dice < 0.75) return this.#createPort(life, name, node)
    if (dice < 0.9) return this.#deletePort(life, node)
    await this.#deleteNode(life, name, node)
  }

  async #createNode({ client }: Life): Promise<void> {
    const name = randomUuid(this.#random)
    const node: ExtraNode = { presence: 'gone', counter: new Counter(), ports: new Map() }
    this.#nodes.set(name, node)
    const answer = await answered(client.createNode({ uuid: name, driver: 'fake-hardware' }))
    node.presence = after(answer, 'gone', 'there')
  }

  async #deleteNode({ client }: Life, name: string, node: ExtraNode): Promise<void> {
    const answer = await answered(client.deleteNode(name))
    node.presence = after(answer, 'there', 'gone')
    for (const [address, presence] of node.ports)
      if (presence !== 'gone') node.ports.set(address, after(answer, presence, 'gone'))
  }

  async #createPort({ client }: Life, name: string, { ports }: ExtraNode): Promise<void> {
    const number = ++this.#ports
    const address = ['06', '00', '00', '00', hex(number >> 8), hex(number)].join(':')
    const answer = await answered(client.createPort({ node_uuid: name, address }))
    ports.set(address, after(answer, 'gone', 'there'))
  }

  async #deletePort({ client }: Life, { ports }: ExtraNode): Promise<void> {
    const there = [...ports].filter(([, presence]) => presence === 'there').map(([address]) => address)
    const address = pick(this.#random, there)
    if (address === undefined) return
    const port = (await client.ports().catch(() => [])).find((candidate) => candidate.address === address)
    if (port) ports.set(address, after(await answered(client.deletePort(port.uuid)), 'there', 'gone'))
  }

  /** Everything that was acknowledged holds; what was not is as it is found from now on. */
  check(nodes: readonly ApiNode[], ports: readonly ApiPort[]): void {
    const found = new Map(nodes.map((node) => [node.uuid, node]))
    const addresses = new Set(ports.map(({ address }) => address))
    for (const [name, node] of this.#nodes) {
      const record = found.get(name)
      node.presence = settled(node.presence, record !== undefined, `node ${name}`)
      if (record) {
        node.counter.check(record.extra, name)
        expect(record.reservation, `reservation of ${name}`).toBeNull()
      }
      for (const [address, presence] of node.ports)
        node.ports.set(address, settled(presence, addresses.has(address), `port ${address}`))
    }
  }
}

function after(answer: Answer, before: Presence, then: Presence): Presence {
  return answer === 'accepted' ? then : answer === 'refused' ? before : 'unknown'
}

function settled(presence: Presence, found: boolean, what: string): Presence {
  if (presence !== 'unknown') expect(found, `${what} is ${presence}`).toBe(presence === 'there')
  return found ? 'there' : 'gone'
}

const hex = (value: number): string => (value & 0xff).toString(16).padStart(2, '0')
