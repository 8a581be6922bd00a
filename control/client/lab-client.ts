import { defined } from '../../base/runtime/index.js'
import type { ControlOperation } from '../operations/control-operation.js'
import { CONTROL_OPERATIONS } from '../operations/control-operations.js'
import { readEvents } from './read-events.js'
import type { ControlCalls } from '../operations/typed-calls.js'

/** Options of {@link LabClient}. */
export interface LabClientOptions {
  /** Default: the global one; {@link Lab.fetchAt} for a lab of this process. */
  fetch?: typeof fetch
  /** Sent with each call: `authorization` where the lab asks for a password. */
  headers?: Readonly<Record<string, string>>
  /** Ends all calls when it is aborted. */
  signal?: AbortSignal
}

/**
 * A lab has refused a call, or none has answered.
 *
 * @example
 * import { ControlRefused, LabClient } from 'ironstage/control'
 *
 * const lab = new LabClient('http://127.0.0.1:6385')
 * await lab.advance({ by: '31m' }).catch((error: unknown) => {
 *   if (error instanceof ControlRefused && error.code === 'clock-fixed') return lab.setClock({ mode: 'manual' })
 *   throw error
 * })
 */
export class ControlRefused extends Error {
  override name = 'ControlRefused'
  readonly status: number
  /** One of docs/errors.md; `no-lab` for an answer that comes from no lab. */
  readonly code: string
  /** Sentence that says how to go on. */
  readonly remedy: string | null

  constructor(status: number, refusal: { code: string; message: string; remedy: string | null }) {
    super(refusal.message)
    this.status = status
    this.code = refusal.code
    this.remedy = refusal.remedy
  }
}

// eslint-disable-next-line @typescript-eslint/no-unsafe-declaration-merging, @typescript-eslint/no-empty-object-type -- the constructor adds these methods
export interface LabClient extends ControlCalls {}

/**
 * The control API of a lab in another process, typed. Its methods are the operations that `GET /_lab` lists: they take the
 * parts of the path, then the body, then the query.
 *
 * @example
 * import { LabClient } from 'ironstage/control'
 *
 * const lab = new LabClient('http://127.0.0.1:6385')
 * const { nodes } = await lab.enroll({ count: 3 })
 * const fault = await lab.addFault({ match: { node: nodes[0]!.uuid }, effect: { kind: 'agent-silent' } })
 * await lab.advance({ by: '31m' })
 * const { entries } = await lab.journal({ node: 'node-0', kind: ['state', 'fault'] })
 * await lab.liftFault(fault.id)
 * for await (const entry of lab.events({ node: 'node-0' })) if (entry.kind === 'state' && entry.state === 'active') break
 */
// eslint-disable-next-line @typescript-eslint/no-unsafe-declaration-merging -- as above
export class LabClient {
  /** URL of its Ironic, without `/v1`. */
  readonly url: string
  readonly #options: LabClientOptions

  /** @param url of its Ironic, with or without `/v1` */
  constructor(url: string, options: LabClientOptions = {}) {
    this.url = url.replace(/\/+(v1\/*)?$/, '')
    this.#options = options
    for (const operation of CONTROL_OPERATIONS as readonly ControlOperation[])
      Object.defineProperty(this, operation.id, {
        value: (...args: unknown[]) =>
          operation.answer === 'text/event-stream' ? this.#events(operation, args) : this.#document(operation, args),
      })
  }

  async #document(operation: ControlOperation, args: readonly unknown[]): Promise<unknown> {
    const response = await this.#send(operation, args, 'application/json')
    const text = await response.text()
    if (typeof operation.answer === 'string') return text
    return text === '' ? undefined : (JSON.parse(text) as unknown)
  }

  async *#events(operation: ControlOperation, args: readonly unknown[]): AsyncGenerator<unknown, void> {
    const response = await this.#send(operation, args, 'text/event-stream')
    for await (const { event, data } of readEvents(response.body!)) {
      const document = JSON.parse(data) as unknown
      if (event === 'lost')
        throw new ControlRefused(response.status, {
          code: 'lost',
          message: (document as { message: string }).message,
          remedy: 'read faster, or ask for fewer entries',
        })
      yield document
    }
  }

  /** @throws ControlRefused */
  async #send(operation: ControlOperation, args: readonly unknown[], accept: string): Promise<Response> {
    const { method } = operation
    const { target, body } = requestOf(operation, args)
    const { fetch: send = fetch, headers = {}, signal } = this.#options
    const url = `${this.url}/_lab${target}`
    const response = await send(url, {
      method,
      headers: {
        accept,
        ...defined({ 'content-type': body === undefined ? undefined : 'application/json' }),
        ...headers,
      },
      ...defined({ body: body === undefined ? undefined : JSON.stringify(body), signal }),
    }).catch((cause: unknown) => {
      throw signal?.aborted ? cause : new Error(`${method} ${url} got no answer`, { cause })
    })
    if (response.ok) return response
    throw new ControlRefused(response.status, refusalIn(await response.text(), url, response.status))
  }
}

/** Puts the arguments of a call where its operation has them. */
function requestOf(
  { id, path, body, query }: ControlOperation,
  args: readonly unknown[],
): { target: string; body: unknown } {
  const left = [...args]
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const part = left.shift()
    if (typeof part !== 'string' || part === '') throw new TypeError(`${id} needs ${name} as a non-empty string`)
    return encodeURIComponent(part)
  })
  const document = body ? (left.shift() ?? {}) : undefined
  const search = new URLSearchParams()
  if (query)
    for (const [name, value] of Object.entries((left.shift() ?? {}) as Record<string, unknown>))
      if (value !== undefined) search.set(name, Array.isArray(value) ? value.join(',') : String(value))
  return { target: `${filled}${search.size > 0 ? `?${search}` : ''}`, body: document }
}

function refusalIn(
  text: string,
  url: string,
  status: number,
): { code: string; message: string; remedy: string | null } {
  try {
    const { error } = JSON.parse(text) as { error?: { code: string; message: string; remedy: string | null } }
    if (typeof error?.code === 'string') return error
  } catch {
    // The body is no document of a lab.
  }
  const remedy = 'name the URL of an ironstage that is up, and its password where it has one'
  return { code: 'no-lab', message: `${url} answered ${status}, not as a lab does`, remedy }
}
