import { clock } from './measure.js'
import type { BenchClient } from './bench-client.js'

/** How often a client looks at its node, in milliseconds, as the yardstick's does. */
const POLL_INTERVAL = 20

const FAKE = {
  deploy_interface: 'fake',
  inspect_interface: 'fake',
  boot_interface: 'fake',
  power_interface: 'fake',
  management_interface: 'fake',
  network_interface: 'noop',
}

/** A node without a machine, as both Ironics can have it. */
export async function create(client: BenchClient): Promise<string> {
  const properties = { cpus: 8, memory_mb: 32768, local_gb: 100, cpu_arch: 'x86_64' }
  const body = { driver: 'fake-hardware', ...FAKE, properties, driver_info: { address: 'http://192.0.2.1' } }
  return (JSON.parse(await client.ask('POST', '/v1/nodes', body)) as { uuid: string }).uuid
}

interface Seen {
  provision_state: string
  reservation: string | null
  last_error: string | null
}

async function until(client: BenchClient, uuid: string, wanted: string, pollInterval: number): Promise<void> {
  for (;;) {
    const node = JSON.parse(await client.ask('GET', `/v1/nodes/${uuid}`)) as Seen
    if (node.provision_state === wanted && !node.reservation) return
    if (/failed|error/.test(node.provision_state)) throw new Error(`${node.provision_state}: ${node.last_error}`)
    await clock.sleep(pollInterval)
  }
}

/** A node's life: made, managed, provided, deployed, undeployed, gone. */
export async function lifecycle(client: BenchClient, pollInterval = POLL_INTERVAL): Promise<void> {
  await lifeAfterCreation(client, await create(client), { pollInterval })
}

interface LifeOptions {
  /** Milliseconds between two looks. */
  pollInterval?: number
  /** Done in each state that the node comes to rest in. */
  rested?: () => Promise<void>
}

export async function lifeAfterCreation(
  client: BenchClient,
  uuid: string,
  { pollInterval = POLL_INTERVAL, rested }: LifeOptions,
): Promise<void> {
  for (const [target, state] of [
    ['manage', 'manageable'],
    ['provide', 'available'],
    ['active', 'active'],
    ['deleted', 'available'],
  ] as const) {
    await client.ask('PUT', `/v1/nodes/${uuid}/states/provision`, { target })
    await until(client, uuid, state, pollInterval)
    await rested?.()
  }
  await client.ask('DELETE', `/v1/nodes/${uuid}`)
}

/** Does something so many times, a few at once. */
export async function times(count: number, atOnce: number, work: () => Promise<unknown>): Promise<void> {
  let left = count
  await Promise.all(
    Array.from({ length: Math.min(count, atOnce) }, async () => {
      while (left-- > 0) await work()
    }),
  )
}
