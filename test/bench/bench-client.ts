import { Agent, request } from 'node:http'
import { clock } from './measure.js'

export interface Answer {
  status: number
  body: string
}

/** A minimal client, so that the measurement is of the server: it retries only while a node is locked. */
export class BenchClient implements Disposable {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 64 })
  readonly #url: string
  readonly #headers: Readonly<Record<string, string>>
  /** Milliseconds that each answer took. */
  readonly took: number[] = []

  /** @param headers of every request */
  constructor(url: string, headers: Readonly<Record<string, string>> = {}) {
    this.#url = url
    this.#headers = headers
  }

  /** Resolves with the body of an answer that is no error. */
  async ask(method: string, path: string, body?: unknown): Promise<string> {
    for (let tries = 0; ; tries++) {
      const since = performance.now()
      const { status, body: text } = await this.#send(
        method,
        path,
        body === undefined ? undefined : JSON.stringify(body),
      )
      this.took.push(performance.now() - since)
      if (status < 300) return text
      if (tries >= 200 || (status !== 409 && status !== 503))
        throw new Error(`${method} ${path} was answered with ${status}: ${text.slice(0, 300)}`)
      await clock.sleep(50)
    }
  }

  #send(method: string, path: string, body: string | undefined): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const sent = request(
        this.#url + path,
        {
          method,
          agent: this.#agent,
          headers: {
            'x-openstack-ironic-api-version': '1.72',
            ...this.#headers,
            ...(body === undefined
              ? {}
              : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }),
          },
        },
        (response) => {
          const parts: Buffer[] = []
          response.on('data', (part: Buffer) => parts.push(part))
          response.on('end', () => resolve({ status: response.statusCode!, body: Buffer.concat(parts).toString() }))
          response.on('error', reject)
        },
      )
      sent.on('error', reject)
      sent.end(body)
    })
  }

  [Symbol.dispose](): void {
    this.#agent.destroy()
  }
}
