import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { isIPv6 } from 'node:net'
import { systemClock } from '../../../base/runtime/index.js'
import type { IpmiAddress } from '../ipmi-server.js'

const wall = systemClock()

/** How often a datagram is sent at most. */
const COPIES = 4

/** No answer came in time, or the host has refused the datagram. */
export class IpmiSilence extends Error {
  override name = 'IpmiSilence'
  constructor({ host, port }: IpmiAddress, cause?: unknown) {
    super(`the BMC at UDP port ${port} of ${host} does not answer`, { cause })
  }
}

/** Datagrams to one BMC and back. */
export class UdpChannel implements AsyncDisposable {
  readonly #socket: Socket
  readonly #address: IpmiAddress
  #take: (datagram: Buffer) => void = () => {}
  #fail: (error: unknown) => void = () => {}

  private constructor(socket: Socket, address: IpmiAddress) {
    this.#socket = socket
    this.#address = address
    socket.on('message', (datagram) => this.#take(datagram))
    // The host's own answer that the port is closed.
    socket.on('error', (error) => this.#fail(new IpmiSilence(address, error)))
  }

  /** @throws IpmiSilence for a host that cannot be found or reached */
  static async open(address: IpmiAddress): Promise<UdpChannel> {
    const { host, port } = address
    const socket = createSocket(isIPv6(host) ? 'udp6' : 'udp4')
    try {
      const connected = once(socket, 'connect')
      socket.connect(port, host)
      await connected
      return new UdpChannel(socket, address)
    } catch (error) {
      socket.close()
      throw new IpmiSilence(address, error)
    }
  }

  /**
   * Sends a datagram, and the same again while there is no answer: the network may lose one, and a BMC passes over the second
   * copy of a command. Other datagrams are passed over.
   *
   * @param timeout milliseconds of wall time
   * @param answerIn the answer in a datagram; undefined where it is another one
   * @throws IpmiSilence, or the reason of the signal
   */
  async ask<T>(
    datagram: Buffer,
    { timeout, signal }: { timeout: number; signal: AbortSignal | undefined },
    answerIn: (datagram: Buffer) => T | undefined,
  ): Promise<T> {
    signal?.throwIfAborted()
    const answered = new AbortController()
    const answer = new Promise<T>((resolve, reject) => {
      this.#fail = reject
      this.#take = (received) => {
        const found = answerIn(received)
        if (found !== undefined) resolve(found)
      }
    })
    const waits = signal ? AbortSignal.any([signal, answered.signal]) : answered.signal
    const silence = this.#sendAgain(datagram, timeout, waits)
    silence.catch(() => {})
    try {
      return await Promise.race([answer, silence])
    } finally {
      answered.abort()
      this.#take = () => {}
      this.#fail = () => {}
    }
  }

  /** @throws IpmiSilence after the time, and the reason of the signal */
  async #sendAgain(datagram: Buffer, timeout: number, signal: AbortSignal): Promise<never> {
    for (let copies = 0; copies < COPIES; copies++) {
      this.#socket.send(datagram, (error) => {
        if (error) this.#fail(new IpmiSilence(this.#address, error))
      })
      await wall.sleep(timeout / COPIES, { signal })
    }
    throw new IpmiSilence(this.#address)
  }

  [Symbol.asyncDispose](): Promise<void> {
    return new Promise((resolve) => this.#socket.close(resolve))
  }
}
