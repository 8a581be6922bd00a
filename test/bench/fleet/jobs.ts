import type { ApiNode, JsonObject, ProvisionState } from '../../../base/wire/index.js'
import type { RealIronic } from '../../real/ironic.js'
import { clock } from '../measure.js'
import type { Contender } from './contenders.js'

/** Requests under way at a time. */
const MAX_PARALLEL_JOBS = 16
/** Between two looks at all nodes, in milliseconds. */
const POLL_INTERVAL = 1000

type Seen = Pick<ApiNode, 'uuid' | 'provision_state' | 'last_error' | 'reservation' | 'target_power_state'>

/** Nodes of a contender in a real Ironic. */
export class Jobs {
  private constructor(
    readonly ironic: RealIronic,
    readonly uuids: readonly string[],
  ) {}

  /** Registers a node for each machine. */
  static async register(ironic: RealIronic, { nodes }: Contender, fields: JsonObject): Promise<Jobs> {
    const uuids = await eachOf(nodes, async ({ ports, ...node }) => {
      const { uuid } = (await ironic.done(201, 'POST', '/v1/nodes', { ...node, ...fields })) as ApiNode
      for (const port of ports) await ironic.done(201, 'POST', '/v1/ports', { node_uuid: uuid, ...port })
      return uuid
    })
    return new Jobs(ironic, uuids)
  }

  provision(uuid: string, target: string, more: JsonObject = {}): Promise<unknown> {
    return this.ironic.done(202, 'PUT', `/v1/nodes/${uuid}/states/provision`, { target, ...more })
  }

  async seen(): Promise<Map<string, Seen>> {
    const fields = 'uuid,provision_state,last_error,reservation,target_power_state'
    const { nodes } = (await this.ironic.done(200, 'GET', `/v1/nodes?fields=${fields}`)) as { nodes: Seen[] }
    return new Map(nodes.map((node) => [node.uuid, node]))
  }

  /**
   * Brings all nodes into a state.
   *
   * @returns milliseconds that it took
   * @throws for the first that fails, or when they are not there in time
   */
  async all(target: string, state: ProvisionState, more: JsonObject = {}, within = 900_000): Promise<number> {
    const since = performance.now()
    await eachOf(this.uuids, (uuid) => this.provision(uuid, target, more))
    await this.settled(this.uuids, state, within)
    return performance.now() - since
  }

  /** Makes all nodes manageable after a failed cleaning. */
  async recovered(): Promise<void> {
    await eachOf(this.uuids, async (uuid) => {
      await this.#atRest(uuid)
      await this.ironic.send('DELETE', `/v1/nodes/${uuid}/maintenance`)
      const { provision_state: state } = (await this.seen()).get(uuid)!
      if (state !== 'manageable') await this.provision(uuid, 'manage')
    })
    await this.settled(this.uuids, 'manageable', 300_000)
  }

  async #atRest(uuid: string): Promise<void> {
    const over = (node: Seen): boolean => restsIn(node, 'manageable') || hasFailed(node)
    while (!over((await this.seen()).get(uuid)!)) await clock.sleep(POLL_INTERVAL)
  }

  /** Waits until nodes rest in a state. */
  async settled(uuids: readonly string[], state: ProvisionState, within: number): Promise<void> {
    const deadline = performance.now() + within
    for (;;) {
      const seen = await this.seen()
      const waiting = uuids.map((uuid) => seen.get(uuid)!).filter((node) => !restsIn(node, state))
      if (waiting.length === 0) return
      const failed = waiting.find((node) => hasFailed(node))
      const late = performance.now() > deadline
      if (failed || late) {
        const { provision_state: found, last_error: error } = (failed ?? waiting[0])!
        throw new Error(`${found}${late ? ` after ${within / 1000} s` : ''}: ${error ?? 'no error is noted'}`)
      }
      await clock.sleep(POLL_INTERVAL)
    }
  }
}

const isAtRest = ({ reservation, target_power_state: target }: Seen): boolean => reservation === null && target === null
export const restsIn = (node: Seen, state: ProvisionState): boolean => isAtRest(node) && node.provision_state === state
/** A node that is back in `enroll` could not be verified. */
export const hasFailed = (node: Seen): boolean =>
  isAtRest(node) &&
  (/failed$|^error$/.test(node.provision_state) || (node.provision_state === 'enroll' && node.last_error !== null))

/** Works on all items, some at a time. */
export async function eachOf<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results = new Array<R>(items.length)
  let next = 0
  await Promise.all(
    Array.from({ length: MAX_PARALLEL_JOBS }, async () => {
      for (let index = next++; index < items.length; index = next++) results[index] = await work(items[index]!)
    }),
  )
  return results
}
