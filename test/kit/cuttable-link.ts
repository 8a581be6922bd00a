import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

/** A direction of a link: from the client to the server, or back. */
type LinkSide = 'client' | 'server'

interface LinkPair {
  readonly client: Socket
  readonly server: Socket
}

/**
 * A proxy of a port of this host whose connections can be troubled: cut, frozen, stalled, slowed, half-closed, refused.
 * Both ends keep their sockets in all but the first: to the kernel a stalled link is alive, so that keepalives are
 * answered and only what waits for an answer notices.
 */
export class CuttableLink implements AsyncDisposable {
  readonly #pairs = new Set<LinkPair>()
  #server: Server | undefined
  #port = 0
  #target: number
  #frozen = false
  #stalled: readonly LinkSide[] = []
  #refusing = false
  #delay = 0

  private constructor(target: number) {
    this.#target = target
  }

  /**
   * @param port that is connected to for each connection
   * @param host where the link itself listens
   */
  static async open(port: number, host = '127.0.0.1'): Promise<CuttableLink> {
    const link = new CuttableLink(port)
    const server = createServer({ allowHalfOpen: true }, (near) => link.#join(near))
    link.#server = server
    server.listen(0, host)
    await once(server, 'listening')
    link.#port = (server.address() as AddressInfo).port
    return link
  }

  get port(): number {
    return this.#port
  }

  /** The number of open connections. */
  connections(): number {
    return this.#pairs.size
  }

  /** Accepts bytes and loses them. */
  freeze(): void {
    this.#frozen = true
  }

  thaw(): void {
    this.#frozen = false
  }

  /**
   * Nothing of these passes, as of a host that is gone; what was sent arrives after {@link resume}.
   *
   * @param from whose bytes stay: those of both without
   */
  stall(...from: LinkSide[]): void {
    this.#stalled = from.length === 0 ? ['client', 'server'] : from
    for (const pair of this.#pairs) this.#pause(pair)
  }

  resume(): void {
    this.#stalled = []
    this.#eachSocket((socket) => socket.resume())
  }

  /** @param ms by which every byte comes later, in each direction; 0 ends that */
  slow(ms: number): void {
    this.#delay = ms
  }

  /** Ends one direction of all connections: the receiver sees the end of the stream, and may still send. */
  halfClose(from: LinkSide): void {
    for (const pair of this.#pairs) pair[from === 'client' ? 'server' : 'client'].end()
  }

  /** Closes all connections. */
  cut(): void {
    this.#eachSocket((socket) => socket.destroy())
  }

  /** Resets all connections, and those that come until {@link accept}. */
  refuse(): void {
    this.#refusing = true
    this.#eachSocket((socket) => socket.resetAndDestroy())
  }

  accept(): void {
    this.#refusing = false
  }

  /** Connections that come from now on lead to another port. */
  lead(port: number): void {
    this.#target = port
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.cut()
    await new Promise((resolve) => this.#server?.close(resolve))
  }

  #eachSocket(act: (socket: Socket) => unknown): void {
    for (const { client, server } of this.#pairs) {
      act(client)
      act(server)
    }
  }

  #join(client: Socket): void {
    if (this.#refusing) {
      client.on('error', () => {})
      client.resetAndDestroy()
      return
    }
    const server = connect({ port: this.#target, host: '127.0.0.1', noDelay: true, allowHalfOpen: true })
    client.setNoDelay(true)
    const pair = { client, server }
    this.#pairs.add(pair)
    this.#pass(pair, client, server)
    this.#pass(pair, server, client)
    this.#pause(pair)
  }

  #pause(pair: LinkPair): void {
    for (const side of this.#stalled) pair[side].pause()
  }

  #pass(pair: LinkPair, from: Socket, to: Socket): void {
    // Slowed bytes keep their order, also when those after them are not slowed.
    let sent = NOTHING_WAITS
    const inOrder = (send: () => void): void => {
      const delay = this.#delay
      if (delay === 0 && sent === NOTHING_WAITS) return send()
      const before = sent
      const due = sleep(delay)
      const mine = Promise.all([before, due]).then(() => {
        send()
        if (sent === mine) sent = NOTHING_WAITS
      })
      sent = mine
    }
    from.on('error', () => {})
    from.on('data', (bytes: Buffer) => {
      if (!this.#frozen) inOrder(() => to.writable && to.write(bytes))
    })
    from.on('end', () => inOrder(() => to.end()))
    from.on('close', () => {
      this.#pairs.delete(pair)
      inOrder(() => to.destroySoon())
    })
  }
}

const NOTHING_WAITS: Promise<void> = Promise.resolve()

/** {@link CuttableLink.open} */
export const cuttableLink = (port: number, host?: string): Promise<CuttableLink> => CuttableLink.open(port, host)
