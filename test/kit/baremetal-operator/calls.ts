import type { Lab } from '../../../lab/index.js'

/** Newest first, what BareMetal Operator asks for and nothing between. */
const LADDER = [110, 109, 95, 93, 89]

/** An answer that a call does not take; `status` decides what becomes of the host. */
export class Unexpected extends Error {
  override name = 'Unexpected'
  readonly status: number

  constructor(method: string, path: string, status: number, body: string) {
    super(`${method} ${path}: ${status} ${body}`)
    this.status = status
  }
}

/** What gophercloud takes for success. */
const SUCCESS: Readonly<Record<string, readonly number[]>> = {
  GET: [200],
  POST: [200, 201, 202, 204],
  PUT: [201, 202, 204],
  PATCH: [200, 202, 204],
  // Vendor methods are answered with 200.
  DELETE: [200, 202, 204],
}

/** Calls as BareMetal Operator makes them by gophercloud, and which ones it made. */
export class Calls {
  /** `METHOD path status`, in order. */
  readonly made: string[] = []
  readonly #lab: Pick<Lab, 'transport' | 'url'>
  readonly #stopAt: number
  #version: number | undefined

  /** @param stopAt the newest microversion that it knows, for older operators */
  constructor(lab: Pick<Lab, 'transport' | 'url'>, { stopAt = 110 }: { stopAt?: number } = {}) {
    this.#lab = lab
    this.#stopAt = stopAt
  }

  /** The minor version that it settled on. */
  get version(): number {
    return this.#version!
  }

  /**
   * Discovery without any header, then drivers at the version that it chose.
   *
   * @throws Error when Ironic is too old or has no drivers: the host is tried again after 30 seconds
   */
  async ready(): Promise<void> {
    const { version } = await this.#send('GET', '/', undefined, {}).then(
      ({ text }) =>
        JSON.parse(text) as { version: { id: string; status: string; min_version: string; version: string } },
    )
    if (version.id !== 'v1' || version.status !== 'CURRENT') throw new Error(`no version of Ironic: ${version.id}`)
    const newest = Number(/^1\.(\d+)$/.exec(version.version)![1])
    this.#version = LADDER.find((minor) => minor <= newest && minor <= this.#stopAt)
    if (this.#version === undefined) throw new Error(`Ironic has 1.${newest}, and 1.89 is needed`)
    const { drivers } = await this.call<{ drivers: unknown[] }>('GET', '/drivers')
    if (drivers.length === 0) throw new Error('no drivers loaded')
  }

  /** @throws {@link Unexpected} for an answer that is no success */
  async call<T = unknown>(method: string, path: string, body?: unknown): Promise<T> {
    const { status, text } = await this.#send(method, path, body, {
      'x-openstack-ironic-api-version': `1.${this.#version}`,
      'openstack-api-version': `baremetal 1.${this.#version}`,
      accept: 'application/json',
      'user-agent': 'gophercloud/v2.13.0',
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    })
    if (!SUCCESS[method]!.includes(status)) throw new Unexpected(method, path, status, text)
    return (text === '' ? undefined : JSON.parse(text)) as T
  }

  /** The same, with undefined where there is no such thing. */
  async find<T>(path: string): Promise<T | undefined> {
    try {
      return await this.call<T>('GET', path)
    } catch (error) {
      if (error instanceof Unexpected && error.status === 404) return undefined
      throw error
    }
  }

  async #send(method: string, path: string, body: unknown, headers: Record<string, string>) {
    const { transport, url } = this.#lab
    const text = body === undefined ? {} : { body: JSON.stringify(body) }
    const response = await transport.send({ method, url: `${url}/v1${path}`, headers, ...text })
    this.made.push(`${method} ${path} ${response.status}`)
    return { status: response.status, text: response.body ?? '' }
  }
}
