import { FetchFailure } from '../../base/bytes/index.js'
import { errorChain, onAbort, seconds, sharedAbort, UserError, type Clock } from '../../base/runtime/index.js'
import {
  askAgain,
  IronicClient,
  IronicRefused,
  isIronicAway,
  type ApiNode,
  type JsonObject,
  type Transport,
} from '../../base/wire/index.js'
import { ERRORS } from './errors.js'
import type { FleetHost } from './fleet-hosts.js'
import type { HostsOutOptions } from './hosts-out.js'
import { nodeFields } from './node-fields.js'

export interface FleetEnrollOptions extends HostsOutOptions {
  /** URL of the Ironic, without `/v1`; a function finds it before the first request, and again after one was in vain. */
  url: string | (() => Promise<string>)
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
 * Creates a node and its ports for each machine. If the machine's node exists, only its missing ports are created. An
 * Ironic that cannot be reached is asked again until it can. All requests have ended when this one does.
 *
 * @throws UserError `fleet-enroll` with the first refusal of the Ironic, `fleet-names` for a name or a MAC address of
 *   another machine; the signal's reason
 */
export async function enrollHosts(hosts: readonly FleetHost[], options: FleetEnrollOptions): Promise<void> {
  const { url, transport, headers, clock, signal } = options
  const ending = sharedAbort()
  using _ = onAbort(signal, (reason) => ending.abort(reason))
  const connect = async (): Promise<IronicClient> => {
    const found = typeof url === 'string' ? url : await url()
    return new IronicClient({
      endpoint: found.replace(/\/+(v1\/*)?$/, ''),
      headers,
      clock,
      transport: { send: (request) => transport.send({ ...request, signal: ending.signal }) },
    })
  }
  let client: Promise<IronicClient> | undefined
  const waiting = [...hosts]
  let isAway = false
  const onWait = (reason: string): void => {
    if (!isAway) options.onAway?.(reason)
    isAway = true
    client = undefined
  }
  const work = async (): Promise<void> => {
    for (let host = waiting.shift(); host; host = waiting.shift()) {
      const wanted = host
      const { uuid, isNew } = await askAgain(async () => enrolled(await (client ??= connect()), wanted, options), {
        isPassing: canRetryEnrollment,
        every: IRONIC_RETRY_INTERVAL,
        onWait,
        clock,
        signal: ending.signal,
      }).catch((cause: unknown) => {
        if (cause instanceof UserError) throw cause
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
  const known = await nodeNamed(client, host.name)
  if (known) refuseOtherMachine(known, host, options)
  const uuid = known?.uuid ?? (await createdNode(client, host, fields, options))
  const registered = new Set(known ? (await client.ports(uuid)).map(({ address }) => address) : [])
  for (const port of ports)
    if (!registered.has(port.address))
      await client.createPort({ node_uuid: uuid, ...port }).catch((error: unknown) => {
        throw isConflict(error) ? namesAreTaken(`${host.name}: ${error.message}`, error) : error
      })
  return { uuid, isNew: known === undefined }
}

const nodeNamed = (client: IronicClient, name: string): Promise<ApiNode | undefined> =>
  client.node(name).catch((error: unknown) => {
    if (error instanceof IronicRefused && error.status === 404) return undefined
    throw error
  })

const isConflict = (error: unknown): error is IronicRefused => error instanceof IronicRefused && error.status === 409

/** @throws UserError `fleet-names` where another fleet has made a node of the name meanwhile */
async function createdNode(
  client: IronicClient,
  host: FleetHost,
  fields: JsonObject & { driver: string },
  options: FleetEnrollOptions,
): Promise<string> {
  try {
    return (await client.createNode(fields)).uuid
  } catch (error) {
    const other = isConflict(error) ? await nodeNamed(client, host.name) : undefined
    if (!other) throw error
    refuseOtherMachine(other, host, options)
    return other.uuid
  }
}

/** Fields of `driver_info` that say where a BMC is. */
const PLACE_FIELDS = ['redfish_address', 'redfish_system_id', 'ipmi_address', 'ipmi_port'] as const

/** @throws UserError `fleet-names` for a node whose BMC is not that of the machine */
function refuseOtherMachine(node: ApiNode, host: FleetHost, options: FleetEnrollOptions): void {
  const { driver_info: wanted } = nodeFields(host, options)
  const places = [node.driver_info, wanted].map((info) =>
    PLACE_FIELDS.map((field) => info[field] ?? '')
      .join(' ')
      .trim(),
  )
  if (places[0] === places[1]) return
  throw namesAreTaken(
    `Ironic has a node ${host.name} already, whose BMC is ${places[0] || 'not named'}, not ${places[1]}`,
  )
}

const namesAreTaken = (message: string, cause?: unknown): UserError =>
  new UserError('fleet-names', message, { remedy: ERRORS['fleet-names'].remedy, cause })
