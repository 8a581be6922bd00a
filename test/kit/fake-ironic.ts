import { defined } from '../../base/runtime/index.js'
import {
  ConnectionFailed,
  type Dispatch,
  type OutgoingRequest,
  type Transport,
  type WireResponse,
} from '../../base/wire/index.js'

export type Call = 'inspect' | 'root' | 'lookup' | 'heartbeat'

export const ironicError = (status: number, faultstring: string): WireResponse => ({
  status,
  headers: {},
  body: JSON.stringify({ error_message: JSON.stringify({ faultcode: 'Client', faultstring, debuginfo: null }) }),
})

export const TOKEN = 'pbtkqGFUX24QDSUtvkU-udzuLGMjTqvFXSOnwVKNSVk'
export const NODE = 'c134f2ce-5c2d-4e48-9e3b-f3f1dc2a08a0'

/**
 * The four calls of Ironic that an agent makes, answered as Ironic 39.0.0 does in the good case; a test puts other
 * answers in front. The token is given out once.
 */
export class FakeIronic implements Transport {
  readonly calls: { call: Call; at: number; request: OutgoingRequest }[] = []
  readonly #now: () => number
  readonly #queued = new Map<Call, (WireResponse | 'refused' | 'silent')[]>()
  token: string | null = TOKEN
  heartbeatTimeout = 300
  #tokenGiven = false
  /** Called when a heartbeat was taken, after it was answered. */
  onHeartbeat: () => void = () => {}

  constructor(now: () => number) {
    this.#now = now
  }

  /** The next calls of this kind get these answers, one each. */
  next(call: Call, ...answers: (WireResponse | 'refused' | 'silent')[]): void {
    this.#queued.set(call, [...(this.#queued.get(call) ?? []), ...answers])
  }

  of(call: Call) {
    return this.calls.filter((made) => made.call === call)
  }

  send = async (request: OutgoingRequest): Promise<WireResponse> => {
    const { pathname } = new URL(request.url)
    const call = callOf(pathname)
    this.calls.push({ call, at: this.#now(), request })
    const queued = this.#queued.get(call)?.shift()
    if (queued === 'refused') throw new ConnectionFailed(`connecting to ${request.url}: refused`)
    if (queued === 'silent') return new Promise(() => {})
    return queued ?? this.#answer(call)
  }

  #answer(call: Call): WireResponse {
    switch (call) {
      case 'inspect':
        return json(202, { uuid: NODE })
      case 'root':
        return json(200, { default_version: { id: 'v1', version: '1.115' } })
      case 'lookup': {
        const token = this.token !== null && this.#tokenGiven ? '******' : this.token
        this.#tokenGiven = true
        return json(200, {
          node: { uuid: NODE, properties: {} },
          config: { heartbeat_timeout: this.heartbeatTimeout, agent_token: token, agent_token_required: true },
        })
      }
      case 'heartbeat':
        setImmediate(() => this.onHeartbeat())
        return { status: 202, headers: {} }
    }
  }
}

function callOf(path: string): Call {
  if (path === '/') return 'root'
  if (path.endsWith('/v1/continue_inspection')) return 'inspect'
  if (path.endsWith('/v1/lookup')) return 'lookup'
  if (path.includes('/v1/heartbeat/')) return 'heartbeat'
  throw new Error(`no such call in this test: ${path}`)
}

const json = (status: number, body: unknown): WireResponse => ({ status, headers: {}, body: JSON.stringify(body) })

/** Calls an API as a client would, by method and target. */
export async function ask(
  dispatch: Dispatch,
  method: string,
  target: string,
  body?: unknown,
): Promise<{ status: number; headers: Readonly<Record<string, string>>; body: unknown }> {
  const response = await dispatch({
    method,
    target,
    headers: {},
    base: 'http://127.0.0.1:17999',
    ...defined({ body: body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  const isJson = response.headers['content-type']?.startsWith('application/json') === true
  return {
    status: response.status,
    headers: response.headers,
    body: response.body === undefined ? null : isJson ? (JSON.parse(response.body) as unknown) : response.body,
  }
}
