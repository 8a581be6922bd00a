import { checkNesting, defined } from '../base/runtime/index.js'
import {
  AGENT_VERSION,
  ConnectionFailed,
  HEARTBEAT_VERSION,
  LOOKUP_VERSION,
  lowerVersion,
  parseInspectionAnswer,
  parseIronicRoot,
  parseLookupAnswer,
  VERSION_HEADER,
  type HeartbeatBody,
  type InspectionBody,
  type Transport,
  type WireResponse,
} from '../base/wire/index.js'
import type { AgentEvent } from './agent-events.js'
import type { SavedState } from './agent-phases.js'

const JSON_HEADERS = { accept: 'application/json', 'content-type': 'application/json' }

/**
 * The agent's calls to Ironic. Each returns the resulting event, and rejects only when its signal is aborted. The API URL that
 * answered last is tried first.
 */
export class IronicLink {
  readonly #transport: Transport
  readonly #headers: Readonly<Record<string, string>>
  #apiUrls: readonly string[]
  #inspectionUrls: readonly string[]

  constructor(options: {
    transport: Transport
    apiUrls: readonly string[]
    inspectionUrls: readonly string[]
    /** Request id sent with every call, to find it in Ironic's log. */
    requestId?: string | null
  }) {
    this.#headers = options.requestId ? { ...JSON_HEADERS, 'x-openstack-request-id': options.requestId } : JSON_HEADERS
    this.#transport = options.transport
    this.#apiUrls = options.apiUrls
    this.#inspectionUrls = options.inspectionUrls
  }

  /** Sends no version header, as IPA: only then does Ironic answer with the bare uuid. */
  async inspect(data: InspectionBody, signal: AbortSignal): Promise<AgentEvent> {
    try {
      const response = await this.#first(this.#inspectionUrls, {
        method: 'POST',
        path: '',
        body: JSON.stringify(data),
        signal,
      })
      this.#inspectionUrls = response.urls
      const { status } = response
      if (status === 409 || status >= 500) return { kind: 'inspection failed', why: describeIronicError(response) }
      if (status >= 400)
        return { kind: 'inspection refused', why: describeIronicError(response), isUnexpected: status === 404 }
      return { kind: 'inspection accepted', uuid: parseInspectionAnswer(parseIronicBody(response)).uuid }
    } catch (error) {
      return { kind: 'inspection failed', why: why(error, signal) }
    }
  }

  async discover(signal: AbortSignal): Promise<AgentEvent> {
    try {
      const response = await this.#api({ method: 'GET', path: '/', signal })
      if (response.status !== 200) return { kind: 'version not found', why: describeIronicError(response) }
      return { kind: 'version found', version: parseIronicRoot(parseIronicBody(response)).default_version.version }
    } catch (error) {
      return { kind: 'version not found', why: why(error, signal) }
    }
  }

  async lookUp(
    macs: readonly string[],
    nodeUuid: string | null,
    ironicVersion: string,
    signal: AbortSignal,
  ): Promise<AgentEvent> {
    const query = new URLSearchParams({
      addresses: macs.join(','),
      ...defined({ node_uuid: nodeUuid ?? undefined }),
    })
    try {
      const version = lowerVersion(ironicVersion, LOOKUP_VERSION)
      const response = await this.#api({ method: 'GET', path: `/v1/lookup?${query.toString()}`, version, signal })
      if (response.status === 200) return { kind: 'looked up', answer: parseLookupAnswer(parseIronicBody(response)) }
      return { kind: 'lookup failed', why: describeIronicError(response), conflict: response.status === 409 }
    } catch (error) {
      return { kind: 'lookup failed', why: why(error, signal), conflict: false }
    }
  }

  async heartbeat(
    nodeUuid: string,
    { callbackUrl, token, tls }: Pick<SavedState, 'callbackUrl' | 'token' | 'tls'>,
    ironicVersion: string,
    signal: AbortSignal,
  ): Promise<AgentEvent> {
    const body: HeartbeatBody = {
      callback_url: tls ? callbackUrl.replace(/^http:/, 'https:') : callbackUrl,
      agent_token: token,
      agent_version: AGENT_VERSION,
      ...defined({ agent_verify_ca: tls ? tls.certificate : undefined }),
    }
    try {
      const version = lowerVersion(ironicVersion, HEARTBEAT_VERSION)
      const path = `/v1/heartbeat/${encodeURIComponent(nodeUuid)}`
      const response = await this.#api({ method: 'POST', path, version, body: JSON.stringify(body), signal })
      // IPA treats even a 200 as an error: Ironic answers 202.
      if (response.status === 202) return { kind: 'heartbeat accepted' }
      return { kind: 'heartbeat failed', why: describeIronicError(response) }
    } catch (error) {
      return { kind: 'heartbeat failed', why: why(error, signal) }
    }
  }

  async #api(call: IronicRequest): Promise<WireResponse> {
    const { urls, ...response } = await this.#first(this.#apiUrls, call)
    this.#apiUrls = urls
    return response
  }

  async #first(urls: readonly string[], call: IronicRequest): Promise<WireResponse & { urls: readonly string[] }> {
    let failure: unknown
    for (const [index, url] of urls.entries()) {
      try {
        const response = await this.#transport.send({
          method: call.method,
          url: `${url}${call.path}`,
          headers: { ...this.#headers, ...defined({ [VERSION_HEADER]: call.version }) },
          ...defined({ body: call.body }),
          signal: call.signal,
        })
        return { ...response, urls: index === 0 ? urls : [url, ...urls.filter((other) => other !== url)] }
      } catch (error) {
        if (!(error instanceof ConnectionFailed)) throw error
        failure = error
      }
    }
    throw failure
  }
}

function why(error: unknown, signal: AbortSignal): string {
  if (signal.aborted) throw error
  return error instanceof Error ? error.message : String(error)
}

interface IronicRequest {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly version?: string
  readonly body?: string
  readonly signal: AbortSignal
}

function parseIronicBody({ body = '' }: WireResponse): unknown {
  try {
    const value: unknown = JSON.parse(body)
    checkNesting(value, 'the answer')
    return value
  } catch (cause) {
    const shown = body === '' ? 'it is empty' : body.slice(0, 200)
    throw new Error(`Ironic's answer is not JSON: ${shown}`, { cause })
  }
}

/** Sentence of an error. Ironic's errors hold JSON in JSON (Ironic's source); the inner sentence is the useful one. */
function describeIronicError({ status, headers, body = '' }: WireResponse): string {
  if (status >= 300 && status < 400)
    return `${status}, a redirect to ${headers.location ?? 'nowhere'}, which is not followed: give the URL of the Ironic API itself`
  let text = body.slice(0, 500)
  try {
    const outer = JSON.parse(body) as { error_message?: unknown } | null
    const inner: unknown = typeof outer?.error_message === 'string' ? JSON.parse(outer.error_message) : undefined
    const { faultstring, description } = (inner ?? {}) as { faultstring?: unknown; description?: unknown }
    if (typeof faultstring === 'string') text = faultstring
    else if (typeof description === 'string') text = description
  } catch {
    // Another form, for example from a proxy: use the text itself.
  }
  return `${status} ${text}`.trim()
}
