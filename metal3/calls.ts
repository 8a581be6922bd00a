import { UserError } from '../runtime/index.js'
import { ironicSentence } from '../wire/index.js'
import type { Stage } from '../lab/index.js'

/** Newest first, what BareMetal Operator asks for and nothing between. */
const LADDER = [110, 109, 95, 93, 89]

/** An answer that a call does not take; `status` decides what becomes of the host. */
export class Unexpected extends Error {
  override name = 'Unexpected'
  readonly status: number
  /** What Ironic said. */
  readonly sentence: string

  constructor(method: string, path: string, status: number, body: string) {
    super(`${method} ${path}: ${status} ${body}`)
    this.status = status
    this.sentence = ironicSentence({ status, headers: {}, body })
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

type Reach = Pick<Stage, 'transport' | 'url'>

/** A call that was made, and the answer's status. */
export interface MadeCall {
  why: string
  method: string
  /** Below `/v1`. */
  path: string
  headers: Readonly<Record<string, string>>
  body: unknown
  status: number
  /** What Ironic said, where it is no success. */
  refusal: string | null
}

export interface CallsOptions {
  /** The newest microversion that it knows, for older operators: the minor number. */
  stopAt?: number
  /** Told of every call when it was answered. */
  onCall?: (call: MadeCall) => void
}

/** Calls as BareMetal Operator makes them by gophercloud, and which ones it made. */
export class Calls {
  /** `METHOD path status`, in order. */
  readonly made: string[] = []
  readonly #lab: Reach
  readonly #stopAt: number
  readonly #onCall: (call: MadeCall) => void
  #version: number | undefined

  constructor(lab: Reach, { stopAt = 110, onCall = () => {} }: CallsOptions = {}) {
    this.#lab = lab
    this.#stopAt = stopAt
    this.#onCall = onCall
  }

  /** The minor version that it settled on. */
  get version(): number {
    return this.#version!
  }

  /**
   * Discovery without any header, then drivers at the version that it chose.
   *
   * @throws UserError when Ironic is too old or has no drivers: the host is tried again after 30 seconds
   */
  async ready(): Promise<void> {
    const why = 'which versions does Ironic speak? Asked without a version header, and without credentials'
    const { version } = await this.#send(why, 'GET', '/', undefined, {}).then(
      ({ text }) =>
        JSON.parse(text) as { version: { id: string; status: string; min_version: string; version: string } },
    )
    if (version.id !== 'v1' || version.status !== 'CURRENT') throw notReady(`it has no version v1 but ${version.id}`)
    const newest = Number(/^1\.(\d+)$/.exec(version.version)![1])
    this.#version = LADDER.find((minor) => minor <= newest && minor <= this.#stopAt)
    if (this.#version === undefined) throw notReady(`its newest version is 1.${newest}, and 1.89 is needed`)
    const { drivers } = await this.call<{ drivers: unknown[] }>('is a conductor there?', 'GET', '/drivers')
    if (drivers.length === 0) throw notReady('no drivers loaded')
  }

  /**
   * @param why for whoever reads along
   * @throws {@link Unexpected} for an answer that is no success
   */
  async call<T = unknown>(why: string, method: string, path: string, body?: unknown): Promise<T> {
    const { status, text } = await this.#send(why, method, path, body, {
      'x-openstack-ironic-api-version': `1.${this.#version}`,
      'openstack-api-version': `baremetal 1.${this.#version}`,
      accept: 'application/json',
      'user-agent': 'gophercloud/v2.13.0',
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    })
    if (!isSuccess(method, status)) throw new Unexpected(method, path, status, text)
    return (text === '' ? undefined : JSON.parse(text)) as T
  }

  /** What there is, with undefined where there is no such thing. */
  async find<T>(why: string, path: string): Promise<T | undefined> {
    try {
      return await this.call<T>(why, 'GET', path)
    } catch (error) {
      if (error instanceof Unexpected && error.status === 404) return undefined
      throw error
    }
  }

  async #send(why: string, method: string, path: string, body: unknown, headers: Record<string, string>) {
    const { transport, url } = this.#lab
    const given = body === undefined ? {} : { body: JSON.stringify(body) }
    const response = await transport.send({ method, url: `${url}/v1${path}`, headers, ...given })
    const { status, body: text = '' } = response
    this.made.push(`${method} ${path} ${status}`)
    const refusal = isSuccess(method, status) ? null : ironicSentence(response)
    this.#onCall({ ...{ why, method, path, headers, body, status }, refusal })
    return { status, text }
  }
}

const isSuccess = (method: string, status: number): boolean => SUCCESS[method]!.includes(status)

const notReady = (why: string): UserError => new UserError('ironic-not-ready', `Ironic is not ready: ${why}`)
