import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'

const DOMAIN = { id: 'default', name: 'Default' }

/**
 * An identity service for clients that cannot do without one: it gives everyone a token, and a catalog with bare metal
 * alone, as keystone's `POST /v3/auth/tokens` does (https://docs.openstack.org/api-ref/identity/v3/).
 */
export class IdentityService implements AsyncDisposable {
  readonly #server: Server

  private constructor(baremetalUrl: string) {
    this.#server = createServer((incoming, answer) => {
      incoming.resume()
      incoming.on('end', () => {
        answer.writeHead(201, { 'content-type': 'application/json', 'x-subject-token': 'token-of-everyone' })
        answer.end(JSON.stringify({ token: tokenFor(baremetalUrl) }))
      })
    })
  }

  /** @param baremetalUrl of an Ironic, which the catalog names */
  static async open(baremetalUrl: string): Promise<IdentityService> {
    const service = new IdentityService(baremetalUrl)
    service.#server.listen(0, '127.0.0.1')
    await once(service.#server, 'listening')
    return service
  }

  /** Its endpoint, with `/v3`. */
  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v3`
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections()
    this.#server.close()
    await once(this.#server, 'close')
  }
}

function tokenFor(url: string) {
  const endpoint = { id: 'baremetal', interface: 'public', region: 'lab', region_id: 'lab', url }
  return {
    methods: ['password'],
    user: { id: 'admin', name: 'admin', domain: DOMAIN },
    project: { id: 'lab', name: 'lab', domain: DOMAIN },
    roles: [{ id: 'admin', name: 'admin' }],
    issued_at: '2026-01-01T00:00:00.000000Z',
    expires_at: '2099-01-01T00:00:00.000000Z',
    catalog: [{ id: 'baremetal', type: 'baremetal', name: 'ironic', endpoints: [endpoint] }],
  }
}
