import { defined } from '../../base/runtime/index.js'
import type { Lab } from '../../lab/index.js'

/** The members of undici's `DispatchOptions` that a request is made of. */
export interface UndiciRequest {
  origin?: string | URL
  path: string
  method: string
  headers?: unknown
  body?: unknown
}

/** undici's `DispatchController`. */
export interface UndiciController {
  readonly aborted: boolean
  readonly paused: boolean
  readonly reason: Error | null
  abort(reason: Error): void
  pause(): void
  resume(): void
}

/** undici's `DispatchHandler`. */
export interface UndiciHandler {
  onRequestStart?(controller: UndiciController, context: unknown): void
  onResponseStart?(
    controller: UndiciController,
    statusCode: number,
    headers: Record<string, string | string[]>,
    statusMessage?: string,
  ): void
  onResponseData?(controller: UndiciController, chunk: Buffer): void
  onResponseEnd?(controller: UndiciController, trailers: Record<string, string | string[]>): void
  onResponseError?(controller: UndiciController, error: Error): void
}

/** undici's `dispatch`. */
export type UndiciDispatch = (options: never, handler: never) => boolean

/**
 * Interceptor for undici 7 that answers all requests below `base` from a lab, as {@link ironicHandlers} does for MSW; other
 * requests go on. A broken connection is an error as of `fetch`.
 *
 * @param base URL without `/v1`
 *
 * @example
 * import { createLab } from 'ironstage'
 * import { ironicInterceptor } from 'ironstage/msw'
 * import { Agent, request } from 'undici'
 *
 * await using lab = await createLab()
 * const dispatcher = new Agent().compose(ironicInterceptor(lab, 'https://ironic.test'))
 * const { body } = await request('https://ironic.test/v1/nodes', { dispatcher })
 * const nodes = await body.json()
 */
export function ironicInterceptor(
  lab: Pick<Lab, 'fetchAt'>,
  base: string,
): <Dispatch extends UndiciDispatch>(dispatch: Dispatch) => Dispatch {
  const fetchFromLab = lab.fetchAt(base)
  const root = new URL(`${base.replace(/\/+$/, '')}/`)
  return <Dispatch extends UndiciDispatch>(dispatch: Dispatch): Dispatch => {
    const intercepted = (options: UndiciRequest, handler: UndiciHandler): boolean => {
      const url = new URL(options.path, options.origin)
      if (url.origin !== root.origin || !`${url.pathname}/`.startsWith(root.pathname))
        return dispatch(options as never, handler as never)
      void answerUndici(url, options, handler, fetchFromLab)
      return true
    }
    return intercepted as unknown as Dispatch
  }
}

async function answerUndici(
  url: URL,
  { method, headers, body }: UndiciRequest,
  handler: UndiciHandler,
  fetchFromLab: typeof fetch,
): Promise<void> {
  const controller = new Controller()
  try {
    handler.onRequestStart?.(controller, {})
    const sent = await readRequestBytes(body)
    const { signal } = controller
    const init = { method, headers: pairsOf(headers), signal, ...defined({ body: sent.length > 0 ? sent : undefined }) }
    const response = await fetchFromLab(url, init)
    signal.throwIfAborted()
    handler.onResponseStart?.(controller, response.status, Object.fromEntries(response.headers), response.statusText)
    for await (const chunk of response.body ?? []) {
      await controller.flowing()
      handler.onResponseData?.(controller, Buffer.from(chunk))
    }
    await controller.flowing()
    handler.onResponseEnd?.(controller, {})
  } catch (error) {
    handler.onResponseError?.(controller, error as Error)
  }
}

/** Control of a request that a caller of undici gets. */
class Controller implements UndiciController {
  readonly #over = new AbortController()
  #resumed: (() => void) | undefined
  #flows: Promise<void> | undefined

  get signal(): AbortSignal {
    return this.#over.signal
  }

  get aborted(): boolean {
    return this.signal.aborted
  }

  get reason(): Error | null {
    return this.aborted ? (this.signal.reason as Error) : null
  }

  get paused(): boolean {
    return this.#flows !== undefined
  }

  abort(reason: Error): void {
    this.#over.abort(reason)
    this.resume()
  }

  pause(): void {
    this.#flows ??= new Promise((resolve) => (this.#resumed = resolve))
  }

  resume(): void {
    this.#flows = undefined
    this.#resumed?.()
  }

  /** Waits while it is paused; throws once it is aborted. */
  async flowing(): Promise<void> {
    await this.#flows
    this.signal.throwIfAborted()
  }
}

/** undici takes headers as an object, as pairs, and as a flat list of names and values. */
function pairsOf(headers: unknown): [string, string][] {
  if (headers === null || headers === undefined) return []
  if (Array.isArray(headers) && !Array.isArray(headers[0])) {
    const flat = headers.map(String)
    return flat.flatMap((name, index) => (index % 2 === 0 ? [[name, flat[index + 1]!] as [string, string]] : []))
  }
  const entries =
    Symbol.iterator in (headers as object)
      ? [...(headers as Iterable<[string, unknown]>)]
      : Object.entries(headers as Record<string, unknown>)
  return entries
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : String(value)])
}

async function readRequestBytes(body: unknown): Promise<Buffer> {
  if (body === null || body === undefined) return Buffer.alloc(0)
  if (typeof body === 'string') return Buffer.from(body)
  if (body instanceof Uint8Array) return Buffer.from(body)
  const parts: Uint8Array[] = []
  for await (const part of body as AsyncIterable<Uint8Array | string>) parts.push(Buffer.from(part as Uint8Array))
  return Buffer.concat(parts)
}
