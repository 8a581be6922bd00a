import { UserError, defined, type Clock } from '../../base/runtime/index.js'
import { ironicSentence } from '../../base/wire/index.js'
import type { Stage } from '../../lab/index.js'

/** Milliseconds for which an Ironic that was ready counts as ready. */
const READY_CACHE_TIME = 5_000

/** Microversions that BareMetal Operator can use, newest first. */
const SUPPORTED_MICROVERSIONS = [110, 109, 95, 93, 89]

/** An answer whose status is no success for its method. */
export class Unexpected extends Error {
  override name = 'Unexpected'
  readonly status: number
  /** Ironic's error message. */
  readonly sentence: string

  constructor(method: string, path: string, status: number, body: string) {
    super(`${method} ${path}: ${status} ${body}`)
    this.status = status
    this.sentence = ironicSentence({ status, headers: {}, body })
  }
}

/** Status codes that gophercloud accepts. */
const SUCCESS: Readonly<Record<string, readonly number[]>> = {
  GET: [200],
  POST: [200, 201, 202, 204],
  PUT: [201, 202, 204],
  PATCH: [200, 202, 204],
  // Vendor passthru methods answer 200.
  DELETE: [200, 202, 204],
}

/** Where Ironic is. */
export type IronicEndpoint = Pick<Stage, 'transport' | 'url' | 'headers'>

/** A request and the status of its answer. */
export interface MadeCall {
  why: string
  method: string
  /** Below `/v1`. */
  path: string
  headers: Readonly<Record<string, string>>
  body: unknown
  status: number
  /** Ironic's error message; null for a success. */
  refusal: string | null
}

export interface CallsOptions {
  /** Minor number of the newest microversion that the operator knows; lower for older operators. */
  newestVersion?: number
  /** Called after each answer. */
  onCall?: (call: MadeCall) => void
  /** Ends requests that are under way. */
  signal?: AbortSignal
}

/** BareMetal Operator's HTTP client for Ironic (gophercloud), with a record of its calls. */
export class Calls {
  /** `METHOD path status`, in order. */
  readonly made: string[] = []
  readonly #lab: IronicEndpoint
  readonly #newestVersion: number
  readonly #onCall: (call: MadeCall) => void
  readonly #signal: AbortSignal | undefined
  #version: number | undefined
  #readySince: number | undefined

  constructor(lab: IronicEndpoint, { newestVersion = 110, onCall = () => {}, signal }: CallsOptions = {}) {
    this.#signal = signal
    this.#lab = lab
    this.#newestVersion = newestVersion
    this.#onCall = onCall
  }

  /** Minor number of the negotiated microversion; set by {@link ready}. */
  get version(): number {
    return this.#version!
  }

  /**
   * Negotiates the microversion, then checks that Ironic has drivers.
   *
   * @throws UserError when Ironic is too old or has no drivers
   */
  async ready(): Promise<void> {
    const why = 'version discovery: sent without a version header and without credentials'
    const { version } = await this.#send(why, 'GET', '/', undefined, {}).then(
      ({ text }) =>
        JSON.parse(text) as { version: { id: string; status: string; min_version: string; version: string } },
    )
    if (version.id !== 'v1' || version.status !== 'CURRENT') throw notReady(`it has no version v1 but ${version.id}`)
    const newest = Number(/^1\.(\d+)$/.exec(version.version)![1])
    this.#version = SUPPORTED_MICROVERSIONS.find((minor) => minor <= newest && minor <= this.#newestVersion)
    if (this.#version === undefined) throw notReady(`its newest version is 1.${newest}, and 1.89 is needed`)
    const { drivers } = await this.call<{ drivers: unknown[] }>('does a conductor offer drivers?', 'GET', '/drivers')
    if (drivers.length === 0) throw notReady('no drivers loaded')
  }

  /** {@link ready}, unless it was at most five seconds ago (`IRONIC_CLIENT_CACHE_TTL`). */
  async readyFor(clock: Clock): Promise<void> {
    const now = clock.now()
    if (this.#readySince !== undefined && now - this.#readySince < READY_CACHE_TIME) return
    await this.ready()
    this.#readySince = now
  }

  /**
   * @param why reason of the call, for the explanation of `bmh explain`
   * @throws {@link Unexpected} if Ironic does not answer with a success
   */
  async call<T = unknown>(why: string, method: string, path: string, body?: unknown): Promise<T> {
    const { status, text } = await this.#send(why, method, path, body, {
      ...this.#lab.headers,
      'x-openstack-ironic-api-version': `1.${this.#version}`,
      'openstack-api-version': `baremetal 1.${this.#version}`,
      accept: 'application/json',
      'user-agent': 'gophercloud/v2.13.0',
      ...defined({ 'content-type': body === undefined ? undefined : 'application/json' }),
    })
    if (!isSuccess(method, status)) throw new Unexpected(method, path, status, text)
    return (text === '' ? undefined : JSON.parse(text)) as T
  }

  /** Reads a resource; undefined for a 404. */
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
    const payload = defined({ body: body === undefined ? undefined : JSON.stringify(body), signal: this.#signal })
    const response = await transport.send({ method, url: `${url}/v1${path}`, headers, ...payload })
    const { status, body: text = '' } = response
    this.made.push(`${method} ${path} ${status}`)
    const refusal = isSuccess(method, status) ? null : ironicSentence(response)
    this.#onCall({ why, method, path, headers, body, status, refusal })
    return { status, text }
  }
}

const isSuccess = (method: string, status: number): boolean => SUCCESS[method]!.includes(status)

const notReady = (reason: string): UserError => new UserError('ironic-not-ready', `Ironic is not ready: ${reason}`)
