import { isIPv4 } from 'node:net'
import { serveIpmi, type IpmiAddress, type IpmiParts } from '../../bmc/ipmi/index.js'
import { silent, systemRandom, userError, UserError, type Logger } from '../../base/runtime/index.js'
import type { Machine } from '../../machine/index.js'
import type { SavedPorts } from '../addresses/saved-port.js'

export interface IpmiListenOptions {
  /** Address of the first machine. Default 127.0.0.1. */
  host?: string
  /** UDP port of the first machine; 0 picks a free one for each. */
  port: number
  /** Counts up from machine to machine: ports of one address, or addresses with the same port. Default: ports. */
  each?: 'port' | 'address'
  /** Beginning of the names of numbered machines. Default `machine-`. */
  prefix?: string
  /** The ports that an earlier process gave them by the same {@link port}; nodes of an Ironic have them. */
  saved?: SavedPorts
  logger?: Logger
}

/** BMCs of a lab that listen for IPMI, a UDP socket each. */
export interface IpmiListener extends AsyncDisposable {
  /** Opens the BMC of one more machine. */
  open(machine: Machine): Promise<IpmiAddress>
  close(machine: string): Promise<void>
  /** Undefined for a machine that is not open. */
  addressOf(machine: string): IpmiAddress | undefined
}

/**
 * Serves the BMCs of machines by IPMI. A machine keeps the port that it has had. `machine-7`, or its like with another prefix,
 * is at the seventh place, also when `machine-6` is not there; where that is another's, and for any other name, it is the
 * first free place. Its random numbers come from the system: what strangers ask changes no later id of
 * the lab.
 *
 * @param machines those that listen from the beginning
 * @throws UserError when one cannot listen: then none does
 */
export async function listenForIpmi(
  parts: Omit<IpmiParts, 'random'>,
  machines: readonly Machine[],
  { host = '127.0.0.1', port, each = 'port', prefix = 'machine-', saved, logger = silent }: IpmiListenOptions,
): Promise<IpmiListener> {
  const server = serveIpmi({ ...parts, random: systemRandom })
  const places = new Map<string, number>()
  const taken = new Set<number>()
  const openAt = (machine: Machine, address: IpmiAddress, picked: number): Promise<IpmiAddress> => {
    if (picked === 0) return server.open(machine, address)
    return server.open(machine, { host: address.host, port: picked }).catch((error: unknown) => {
      if (userError(error)?.code !== 'port-in-use') throw error
      logger(
        'warn',
        `UDP port ${picked}, used before, is taken: the node of ${machine.spec.id} no longer finds its BMC; give it the new port`,
      )
      return server.open(machine, address)
    })
  }
  const portBefore = (id: string): number => (each === 'port' ? (saved?.of(id) ?? 0) : 0)
  const open = (machine: Machine): Promise<IpmiAddress> => {
    const { id } = machine.spec
    const before = portBefore(id)
    const wanted = port > 0 && before >= port ? before - port : numberIn(id, prefix) - 1
    const index = places.get(id) ?? placeFor(wanted, taken)
    places.set(id, index)
    taken.add(index)
    return openAt(machine, addressAt(host, port, each, index), port === 0 ? before : 0)
  }
  const save = (): void => {
    if (each === 'port') saved?.save(new Map([...places.keys()].map((id) => [id, server.addressOf(id)!.port])))
  }
  try {
    // Machines that have had a port come first, and then those with a port of their own.
    const rankOf = (id: string): number => (portBefore(id) > 0 ? 0 : numberIn(id, prefix))
    for (const machine of byRank(machines, rankOf)) await open(machine)
    save()
  } catch (error) {
    await server[Symbol.asyncDispose]()
    throw error
  }
  return {
    open: async (machine) => {
      const address = await open(machine)
      save()
      return address
    },
    close: async (id) => {
      const index = places.get(id)
      places.delete(id)
      if (index !== undefined) taken.delete(index)
      await server.close(id)
    },
    addressOf: (id) => server.addressOf(id),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  }
}

function byRank(machines: readonly Machine[], rankOf: (id: string) => number): Machine[] {
  const ranks = new Map(machines.map((machine) => [machine, rankOf(machine.spec.id)]))
  return [...machines].sort((one, other) => ranks.get(one)! - ranks.get(other)!)
}

/** The number of `machine-7`; Infinity for names without the prefix. */
const numberIn = (id: string, prefix: string): number =>
  id.startsWith(prefix) && /^[1-9]\d{0,5}$/.test(id.slice(prefix.length)) ? Number(id.slice(prefix.length)) : Infinity

/** Index of a machine's place: its own, or the first free one. */
function placeFor(own: number, taken: ReadonlySet<number>): number {
  if (own !== Infinity && !taken.has(own)) return own
  let index = 0
  while (taken.has(index)) index++
  return index
}

const LAST_PORT = 65535

/** @throws UserError when there are more machines than ports or addresses */
function addressAt(host: string, first: number, each: 'port' | 'address', index: number): IpmiAddress {
  if (each === 'address') return { host: addressAfter(host, index), port: first }
  const port = first === 0 ? 0 : first + index
  if (port > LAST_PORT)
    throw new UserError(
      'address-unusable',
      `there is no UDP port for machine ${index + 1}: port ${first} is the first`,
      {
        remedy: 'choose a lower first port, or an address for each machine',
      },
    )
  return { host, port }
}

function addressAfter(host: string, index: number): string {
  const number = host.split('.').reduce((sum, part) => sum * 256 + Number(part), 0) + index
  if (!isIPv4(host) || number > 0xffffffff)
    throw new UserError('address-unusable', `there is no address for machine ${index + 1}: ${host} is the first`, {
      remedy: 'choose an IPv4 address as the first, or a port for each machine',
    })
  return [24, 16, 8, 0].map((shift) => (number >>> shift) & 0xff).join('.')
}
