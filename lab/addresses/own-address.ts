import { createSocket } from 'node:dgram'
import { lookup } from 'node:dns/promises'
import { once } from 'node:events'
import { isIP } from 'node:net'
import { networkInterfaces } from 'node:os'
import { isLoopback } from '../../base/bytes/index.js'
import { during, withClockHeld, UserError, type Clock } from '../../base/runtime/index.js'

const REMEDY = 'say how Ironic reaches this host: advertise_host in a config file, or ipa-advertise-host'

/**
 * Finds the address of this host that a peer sees: the source address of the kernel's route, as in `ip route get`. Nothing
 * is sent. The first reachable peer decides. Link-local addresses are skipped, as in ironic-python-agent.
 *
 * @param urls URLs of the peers
 * @throws UserError `agent-address` when there is no route to any peer
 */
export async function addressTowards(urls: readonly string[], clock: Clock): Promise<string> {
  const failures: unknown[] = []
  for (const url of urls) {
    try {
      const address = await withClockHeld(clock, `looking for a way to ${url}`, () => sourceTowards(new URL(url)))
      if (!isLinkLocal(address)) return address
      failures.push(new Error(`${address}, from which ${url} would be reached, holds on one link only`))
    } catch (error) {
      failures.push(error)
    }
  }
  throw new UserError('agent-address', 'the agent cannot tell by which address Ironic reaches it', {
    remedy: REMEDY,
    cause: failures[0],
  })
}

/** @throws UserError `agent-address` when there is no such network interface, or it has no IPv4 address */
export function addressOf(networkInterface: string): string {
  const addresses = networkInterfaces()[networkInterface] ?? []
  const found = addresses.find(({ family }) => family === 'IPv4')
  if (found) return found.address
  throw new UserError('agent-address', `the network interface ${networkInterface} has no IPv4 address here`, {
    remedy: REMEDY,
  })
}

/**
 * Finds an address of this host that a BMC can fetch from: the one on the route to Ironic, which usually reaches the BMCs
 * too; otherwise the first address that other hosts can reach. Undefined when there is none.
 */
export async function addressForBmcs(ironicUrls: readonly string[], clock: Clock): Promise<string | undefined> {
  const towardsIronic = await addressTowards(ironicUrls, clock).catch(() => undefined)
  if (towardsIronic !== undefined && !isLoopback(towardsIronic)) return towardsIronic
  const outside = Object.values(networkInterfaces())
    .flat()
    .filter((one) => one !== undefined && !one.internal && !isLinkLocal(one.address))
  return (outside.find((one) => one?.family === 'IPv4') ?? outside[0])?.address
}

/** Wildcard address of this host: `::` when it has IPv6, which includes IPv4. */
export function everyAddress(): string {
  const all = Object.values(networkInterfaces()).flat()
  return all.some((one) => one?.family === 'IPv6') ? '::' : '0.0.0.0'
}

export const isEveryAddress = (host: string): boolean => host === '0.0.0.0' || host === '::'

const isLinkLocal = (address: string): boolean => /^(169\.254\.|fe[89ab])/i.test(address)

async function sourceTowards({ hostname, port, protocol }: URL): Promise<string> {
  const host = hostname.replace(/^\[|\]$/g, '')
  const { address, family } = isIP(host) ? { address: host, family: isIP(host) } : await lookup(host)
  const socket = createSocket(family === 6 ? 'udp6' : 'udp4')
  try {
    await during(`finding the way to ${address}`, async () => {
      // `once` rejects when the socket emits an error instead of `connect`.
      const connected = once(socket, 'connect')
      socket.connect(Number(port) || (protocol === 'https:' ? 443 : 80), address)
      await connected
    })
    return socket.address().address
  } finally {
    socket.close()
  }
}
