import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'

/** Servers of one test, which {@link ServersOfTest.close} ends. */
export class ServersOfTest {
  readonly #closing: (() => Promise<unknown>)[] = []

  /** Serves on loopback, over TLS with an identity; returns the port. */
  async serve(listener: RequestListener, tls?: { key: string; cert: string }): Promise<number> {
    const server = tls ? createTlsServer(tls, listener) : createServer(listener)
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    this.closes(() => {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(resolve))
    })
    return (server.address() as AddressInfo).port
  }

  /** Has something else end with the servers. */
  closes(close: () => Promise<unknown>): void {
    this.#closing.push(close)
  }

  async close(): Promise<void> {
    for (const close of this.#closing.splice(0)) await close()
  }
}
