import { errorChain, UserError, type Clock } from '../runtime/index.js'
import { IronicClient, IronicRefused, type Transport } from '../wire/index.js'
import type { FleetHost } from './hosts.js'
import type { HostsOptions } from './hosts-out.js'
import { nodeFields } from './node-fields.js'

export interface EnrolOptions extends HostsOptions {
  /** URL of the Ironic, without `/v1`. */
  url: string
  transport: Transport
  /** Credentials. */
  headers: Readonly<Record<string, string>>
  clock: Clock
  /** Called with each machine and its node, also those that were there. */
  onEnrolled?: (host: FleetHost, uuid: string, isNew: boolean) => void
}

/** Requests under way at a time. */
const AT_ONCE = 8

/**
 * Creates a node and its ports for each machine. If a node with the name exists, only its missing ports are created.
 *
 * @throws UserError `fleet-enrol` with the answer of the Ironic
 */
export async function enrolHosts(hosts: readonly FleetHost[], options: EnrolOptions): Promise<void> {
  const { url, transport, headers, clock } = options
  const client = new IronicClient({ transport, endpoint: url.replace(/\/+(v1\/*)?$/, ''), headers, clock })
  const waiting = [...hosts]
  const work = async (): Promise<void> => {
    for (let host = waiting.shift(); host; host = waiting.shift()) {
      const { uuid, isNew } = await enrolled(client, host, options)
      options.onEnrolled?.(host, uuid, isNew)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
}

async function enrolled(
  client: IronicClient,
  host: FleetHost,
  options: EnrolOptions,
): Promise<{ uuid: string; isNew: boolean }> {
  const { ports, ...fields } = nodeFields(host, options)
  try {
    const known = await client.node(host.name).catch((error: unknown) => {
      if (error instanceof IronicRefused && error.status === 404) return undefined
      throw error
    })
    const { uuid } = known ?? (await client.createNode(fields))
    const registered = new Set(known ? (await client.ports(uuid)).map(({ address }) => address) : [])
    for (const port of ports) if (!registered.has(port.address)) await client.createPort({ node_uuid: uuid, ...port })
    return { uuid, isNew: known === undefined }
  } catch (error) {
    throw new UserError('fleet-enrol', `${host.name} was not enrolled: ${errorChain(error).join(': ')}`, {
      cause: error,
    })
  }
}
