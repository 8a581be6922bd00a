import { once } from 'node:events'
import { createServer, request, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A proxy in front of several servers of this host, each of which gets the next request. */
export class RoundRobin implements AsyncDisposable {
  readonly #server: Server
  /** Requests that each server has had, in the order of the ports. */
  readonly counts: number[]
  #next = 0

  private constructor(private readonly ports: readonly number[]) {
    this.counts = ports.map(() => 0)
    this.#server = createServer((incoming, answer) => this.#pass(incoming, answer))
  }

  static async open(ports: readonly number[]): Promise<RoundRobin> {
    const proxy = new RoundRobin(ports)
    proxy.#server.listen(0, '127.0.0.1')
    await once(proxy.#server, 'listening')
    return proxy
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  #pass(incoming: IncomingMessage, answer: ServerResponse): void {
    const place = this.#next++ % this.ports.length
    this.counts[place]!++
    const { method, url, headers } = incoming
    const onward = request({ host: '127.0.0.1', port: this.ports[place], method, path: url, headers }, (reply) => {
      answer.writeHead(reply.statusCode!, reply.rawHeaders)
      reply.pipe(answer)
    })
    onward.on('error', () => answer.destroy())
    incoming.pipe(onward)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections()
    this.#server.close()
    await once(this.#server, 'close')
  }
}
