import { FetchFailure } from '../../base/bytes/index.js'
import { errorChain, onAbort, seconds, sharedAbort, UserError, type Clock } from '../../base/runtime/index.js'
import { askAgain, IronicClient, IronicRefused, isIronicAway, type Transport } from '../../base/wire/index.js'
import type { FleetHost } from './fleet-hosts.js'
import type { HostsOutOptions } from './hosts-out.js'
import { nodeFields } from './node-fields.js'

export interface FleetEnrollOptions extends HostsOutOptions {
  /** URL of the Ironic, without `/v1`. */
  url: string
  transport: Transport
  /** Credentials. */
  headers: Readonly<Record<string, string>>
  /** Measures the time between attempts. */
  clock: Clock
  /** Ends the enrollment, also requests under way. */
  signal: AbortSignal
  /** Called with each machine and its node, also those that were there. */
  onEnrolled?: (host: FleetHost, uuid: string, isNew: boolean) => void
  /** Called when the Ironic cannot be reached, once until it can. */
  onAway?: (reason: string) => void
}

/** Machines that are enrolled at a time. */
const MAX_PARALLEL_ENROLLMENTS = 8
/** Time between attempts to reach an Ironic. */
export const IRONIC_RETRY_INTERVAL = seconds(2)

/**
 * Creates a node and its ports for each machine. If a node with the name exists, only its missing ports are created. An
 * Ironic that cannot be reached is asked again until it can. All requests have ended when this one does.
 *
 * @throws UserError `fleet-enroll` with the first refusal of the Ironic; the signal's reason
 */
export async function enrollHosts(hosts: readonly FleetHost[], options: FleetEnrollOptions): Promise<void> {
  const { url, transport, headers, clock, signal } = options
  const ending = sharedAbort()
  using _ = onAbort(signal, (reason) => ending.abort(reason))
  const client = new IronicClient({
    endpoint: url.replace(/\/+(v1\/*)?$/, ''),
    headers,
    clock,
    transport: { send: (request) => transport.send({ ...request, signal: ending.signal }) },
  })
  const waiting = [...hosts]
  let isAway = false
  const onWait = (reason: string): void => {
    if (!isAway) options.onAway?.(reason)
    isAway = true
  }
  const work = async (): Promise<void> => {
    for (let host = waiting.shift(); host; host = waiting.shift()) {
      const wanted = host
      const { uuid, isNew } = await askAgain(() => enrolled(client, wanted, options), {
        isPassing: canRetryEnrollment,
        every: IRONIC_RETRY_INTERVAL,
        onWait,
        clock,
        signal: ending.signal,
      }).catch((cause: unknown) => {
        const why = errorChain(cause).join(': ')
        throw new UserError('fleet-enroll', `${wanted.name} was not enrolled: ${why}`, { cause })
      })
      isAway = false
      options.onEnrolled?.(wanted, uuid, isNew)
    }
  }
  await Promise.all(
    Array.from({ length: MAX_PARALLEL_ENROLLMENTS }, () => work().catch((error: unknown) => ending.abort(error))),
  )
  // The first reason stays: that of the others is that they were ended.
  ending.signal.throwIfAborted()
}

/** A certificate that is not trusted, or a server of another protocol, stays so. */
function canRetryEnrollment(error: unknown): boolean {
  const { cause } = error as Error
  return isIronicAway(error) && !(cause instanceof FetchFailure && !cause.transient)
}

async function enrolled(
  client: IronicClient,
  host: FleetHost,
  options: FleetEnrollOptions,
): Promise<{ uuid: string; isNew: boolean }> {
  const { ports, ...fields } = nodeFields(host, options)
  const known = await client.node(host.name).catch((error: unknown) => {
    if (error instanceof IronicRefused && error.status === 404) return undefined
    throw error
  })
  const { uuid } = known ?? (await client.createNode(fields))
  const registered = new Set(known ? (await client.ports(uuid)).map(({ address }) => address) : [])
  for (const port of ports) if (!registered.has(port.address)) await client.createPort({ node_uuid: uuid, ...port })
  return { uuid, isNew: known === undefined }
}
