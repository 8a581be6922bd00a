import { createSocket, type Socket } from 'node:dgram'
import { isIPv6 } from 'node:net'
import type { Machine } from '../../machine/index.js'
import { Mutex, UserError } from '../../base/runtime/index.js'
// Adds the error codes of wire's sockets to the types.
import type {} from '../../base/wire/index.js'
import { createIpmiBmc, type IpmiBmc, type IpmiParts } from './lan-bmc.js'

/** Where a BMC listens. */
export interface IpmiAddress {
  readonly host: string
  readonly port: number
}

/** BMCs that listen for IPMI over LAN, each on a UDP socket of its own. */
export interface IpmiServer extends AsyncDisposable {
  /**
   * Opens the BMC of a machine.
   *
   * @param at where to listen; port 0 picks a free one
   * @rechanges where it listens
   * @throws UserError `port-in-use` or `address-unusable`
   */
  open(machine: Machine, at: IpmiAddress): Promise<IpmiAddress>
  /** Closes it. Sessions end without a word, as when a BMC loses its network. */
  close(machine: string): Promise<void>
  /** Where a machine's BMC listens; undefined while it is not open. */
  addressOf(machine: string): IpmiAddress | undefined
}

/** Datagrams that a BMC works on at once; it loses more, as a slow one does. */
const MAX_PARALLEL_DATAGRAMS = 64

interface Opened {
  readonly socket: Socket
  readonly bmc: IpmiBmc
  readonly address: IpmiAddress
}

/**
 * Serves machines by IPMI. A socket is opened for a machine when {@link IpmiServer.open} is called, and for no other.
 *
 * @example
 * await using ipmi = serveIpmi({ accounts, clock, random, probe })
 * await ipmi.open(machine, { host: '127.0.0.1', port: 6230 })
 */
export function serveIpmi(parts: IpmiParts): IpmiServer {
  const opened = new Map<string, Opened>()
  const changes = new Mutex()
  const close = async (id: string): Promise<void> => {
    const { socket, bmc } = opened.get(id) ?? {}
    opened.delete(id)
    bmc?.[Symbol.dispose]()
    if (socket) await new Promise<void>((resolve) => socket.close(resolve))
  }
  return {
    open: (machine, at) =>
      changes.run(async () => {
        const { id } = machine.spec
        await close(id)
        const socket = await bound(at)
        const { port } = socket.address()
        const address = { host: at.host, port }
        const bmc = createIpmiBmc(machine, parts, address)
        attach(socket, bmc)
        opened.set(id, { socket, bmc, address })
        return address
      }),
    close: (id) => changes.run(() => close(id)),
    addressOf: (id) => opened.get(id)?.address,
    [Symbol.asyncDispose]: () =>
      changes.run(async () => {
        for (const id of [...opened.keys()]) await close(id)
      }),
  }
}

function bound({ host, port }: IpmiAddress): Promise<Socket> {
  const socket = createSocket(isIPv6(host) ? 'udp6' : 'udp4')
  return new Promise((resolve, reject) => {
    socket.once('error', (cause: NodeJS.ErrnoException) => {
      socket.close()
      reject(ipmiListenError({ host, port }, cause))
    })
    socket.bind({ address: host, port, exclusive: true }, () => {
      socket.removeAllListeners('error')
      resolve(socket)
    })
  })
}

function ipmiListenError({ host, port }: IpmiAddress, cause: NodeJS.ErrnoException): UserError {
  if (cause.code === 'EADDRINUSE')
    return new UserError('port-in-use', `UDP port ${port} on ${host} is already in use`, {
      cause,
      remedy: 'choose another first port for IPMI, or end the program that uses it',
    })
  return new UserError(
    'address-unusable',
    `cannot listen on ${host}, UDP port ${port}: ${cause.code ?? String(cause)}`,
    {
      cause,
      remedy: 'choose an address of this host, and a port that you may use',
    },
  )
}

function attach(socket: Socket, bmc: IpmiBmc): void {
  let atOnce = 0
  socket.on('error', () => {
    // An answer could not be sent; the caller asks again.
  })
  socket.on('message', (datagram, { address, port }) => {
    if (atOnce >= MAX_PARALLEL_DATAGRAMS) return
    atOnce++
    const send = (answer: Buffer): void => {
      try {
        socket.send(answer, port, address, () => {})
      } catch {
        // The socket was closed meanwhile.
      }
    }
    void bmc.receive(datagram, send).finally(() => atOnce--)
  })
}
