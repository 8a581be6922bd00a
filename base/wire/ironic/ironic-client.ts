import { defined, jsonText, UserError, type Clock } from '../../runtime/index.js'
import type { OutgoingRequest, Transport, WireResponse } from '../wire-exchange.js'
import type { RequestedStep } from '../step-kinds.js'
import type { Microversion } from './microversion.js'
import { formatMicroversion, MAX_MICROVERSION, MAX_VERSION_HEADER, VERSION_HEADER } from './microversion.js'
import type { JsonObject, NodeRecord, PortRecord, ProvisionState } from './node.js'

/** A node as the API shows it: the record without its database id, with links. */
export type ApiNode = Omit<NodeRecord, 'id' | 'allocation_id' | 'chassis_id' | 'conductor_affinity'> & {
  conductor: string | null
  links: { href: string; rel: string }[]
}
/** A port as the API shows it. */
export type ApiPort = Omit<PortRecord, 'id' | 'node_id' | 'portgroup_id' | 'internal_info'> & {
  internal_info: JsonObject
}

/**
 * A refusal of Ironic: its status, and its own sentence as the message.
 *
 * @example
 * import { createLab, IronicRefused } from 'ironstage'
 *
 * await using lab = await createLab()
 * const status = await lab.client.node('unknown').then(
 *   () => 200,
 *   (error: unknown) => (error instanceof IronicRefused ? error.status : undefined),
 * )
 */
export class IronicRefused extends Error {
  override name = 'IronicRefused'
  readonly status: number
  readonly call: string

  constructor(call: string, status: number, sentence: string) {
    super(sentence)
    this.call = call
    this.status = status
  }
}

export interface IronicClientOptions {
  transport: Transport
  /** With or without `/v1`, with or without trailing slash, as people write it. */
  endpoint: string
  clock: Clock
  /** Without, the newest that both sides know. */
  microversion?: Microversion
  /** Added to every request (`authorization`). */
  headers?: Readonly<Record<string, string>>
}

/**
 * A client of Ironic's API, ours or a real one, for the command line, the lab and the tests.
 *
 * @example
 * import { createLab } from 'ironstage'
 *
 * await using lab = await createLab()
 * const node = await lab.client.createNode({ driver: 'redfish' })
 * await lab.client.provision(node.uuid, 'manage')
 * const { last_error } = await lab.wait(lab.client.waitFor(node.uuid, ['manageable', 'enroll']))
 */
export class IronicClient {
  readonly #options: IronicClientOptions
  readonly #root: string
  /** The requested microversion, lowered to the highest one of an older Ironic. */
  #microversion: Microversion

  constructor(options: IronicClientOptions) {
    this.#options = options
    this.#microversion = options.microversion ?? MAX_MICROVERSION
    this.#root = `${options.endpoint.replace(/\/+$/, '').replace(/\/v1$/, '')}/v1`
  }

  createNode(fields: { driver: string } & JsonObject): Promise<ApiNode> {
    return this.#json('POST', '/nodes', fields)
  }

  /** @param ident UUID or name */
  node(ident: string): Promise<ApiNode> {
    return this.#json('GET', nodePath(ident))
  }

  /** All pages of the list; `query` as in `GET /v1/nodes`, `detail: true` for whole nodes. */
  nodes(query: Readonly<Record<string, string | boolean>> = {}): Promise<ApiNode[]> {
    return this.#pages('nodes', `/nodes${formatQuery(query)}`)
  }

  /** Changes fields of a node by a JSON patch (RFC 6902). */
  patchNode(
    ident: string,
    patch: readonly { op: 'add' | 'replace' | 'remove'; path: string; value?: unknown }[],
  ): Promise<ApiNode> {
    return this.#json('PATCH', nodePath(ident), patch)
  }

  async deleteNode(ident: string): Promise<void> {
    await this.#call('DELETE', nodePath(ident))
  }

  /** The states of a node, and how it is doing. */
  states(
    ident: string,
  ): Promise<
    Pick<
      NodeRecord,
      | 'power_state'
      | 'target_power_state'
      | 'provision_state'
      | 'target_provision_state'
      | 'last_error'
      | 'provision_updated_at'
    >
  > {
    return this.#json('GET', `${nodePath(ident)}/states`)
  }

  /** Resolves once Ironic has accepted the verb; {@link waitFor} waits for what comes of it. */
  async provision(
    ident: string,
    target: string,
    more: {
      configdrive?: unknown
      deploy_steps?: readonly RequestedStep[]
      clean_steps?: readonly RequestedStep[]
      service_steps?: readonly RequestedStep[]
      rescue_password?: string
      disable_ramdisk?: boolean
    } = {},
  ): Promise<void> {
    await this.#call('PUT', `${nodePath(ident)}/states/provision`, { target, ...more })
  }

  async power(ident: string, target: string, timeoutSeconds?: number): Promise<void> {
    const body = { target, ...defined({ timeout: timeoutSeconds }) }
    await this.#call('PUT', `${nodePath(ident)}/states/power`, body)
  }

  async setMaintenance(ident: string, on: boolean, reason?: string): Promise<void> {
    const path = `${nodePath(ident)}/maintenance`
    if (on) await this.#call('PUT', path, reason === undefined ? {} : { reason })
    else await this.#call('DELETE', path)
  }

  validate(ident: string): Promise<Record<string, { result: boolean | null; reason?: string }>> {
    return this.#json('GET', `${nodePath(ident)}/validate`)
  }

  /** @throws IronicRefused 404 before the node has been inspected */
  inventory(ident: string): Promise<{ inventory: JsonObject; plugin_data: JsonObject }> {
    return this.#json('GET', `${nodePath(ident)}/inventory`)
  }

  createPort(fields: { node_uuid: string; address: string } & JsonObject): Promise<ApiPort> {
    return this.#json('POST', '/ports', fields)
  }

  /** Whole ports, of one node or of all. */
  ports(nodeUuid?: string): Promise<ApiPort[]> {
    return this.#pages(
      'ports',
      `/ports${formatQuery({ detail: true, ...defined({ node_uuid: nodeUuid || undefined }) })}`,
    )
  }

  async deletePort(uuid: string): Promise<void> {
    await this.#call('DELETE', `/ports/${encodeURIComponent(uuid)}`)
  }

  /**
   * Looks at the node until it is in one of `states`.
   *
   * @throws UserError `unexpected-state` when it comes to rest elsewhere, failed or with an error; `timeout` when it takes longer than allowed
   */
  async waitFor(
    ident: string,
    states: readonly ProvisionState[],
    options: {
      /** Milliseconds between two looks. */
      every?: number
      /** Milliseconds after which waiting ends with a UserError `timeout`. */
      timeout?: number
      /** Called with each change of provision state that was seen. */
      onState?: (node: ApiNode) => void
      signal?: AbortSignal
    } = {},
  ): Promise<ApiNode> {
    const { every = 500, timeout = Infinity, onState, signal } = options
    const { clock } = this.#options
    const deadline = clock.now() + timeout
    for (let seen: ProvisionState | undefined; ;) {
      const node = await this.node(ident)
      if (node.provision_state !== seen) onState?.(node)
      seen = node.provision_state
      if (states.includes(seen)) return node
      if (hasEnded(node)) throw unexpectedState(node, states)
      if (clock.now() >= deadline) throw tooLong(node, states, timeout)
      await clock.sleep(every, signal ? { signal } : {})
    }
  }

  async #pages<T>(plural: string, path: string): Promise<T[]> {
    const all: T[] = []
    for (let url: string | undefined = this.#root + path; url !== undefined;) {
      const page: { next?: string } & Record<string, unknown> = parseAnswerBody(await this.#send('GET', url))
      all.push(...(page[plural] as T[]))
      // Only the query: the link may name a host that is not ours to reach (a proxy, a public endpoint).
      url = page.next === undefined ? undefined : this.#root + path.replace(/\?.*$/, '') + new URL(page.next).search
    }
    return all
  }

  async #json<T>(method: string, path: string, body?: unknown): Promise<T> {
    return parseAnswerBody<T>(await this.#call(method, path, body))
  }

  #call(method: string, path: string, body?: unknown): Promise<WireResponse> {
    return this.#send(method, this.#root + path, body)
  }

  async #send(method: string, url: string, body?: unknown): Promise<WireResponse> {
    const { transport, headers } = this.#options
    const request: OutgoingRequest = {
      method,
      url,
      headers: {
        accept: 'application/json',
        ...defined({ 'content-type': body === undefined ? undefined : 'application/json' }),
        [VERSION_HEADER]: formatMicroversion(this.#microversion),
        ...headers,
      },
      ...defined({ body: body === undefined ? undefined : jsonText(body, 'the body of a request to Ironic') }),
    }
    const response = await transport.send(request)
    if (response.status === 406 && this.#lowered(response)) return this.#send(method, url, body)
    if (response.status >= 400) throw new IronicRefused(`${method} ${url}`, response.status, ironicSentence(response))
    return response
  }

  /** Whether this Ironic is older than the requested microversion, on which the caller does not insist. */
  #lowered({ headers }: WireResponse): boolean {
    const theirs = Number(/^1\.(\d+)$/.exec(headers[MAX_VERSION_HEADER] ?? '')?.[1] ?? NaN)
    if (this.#options.microversion !== undefined || !(theirs < this.#microversion)) return false
    this.#microversion = theirs
    return true
  }
}

const nodePath = (ident: string): string => `/nodes/${encodeURIComponent(ident)}`

function formatQuery(query: Readonly<Record<string, string | boolean>>): string {
  const text = new URLSearchParams(
    Object.entries(query).map(([name, value]): [string, string] => [name, String(value)]),
  ).toString()
  return text === '' ? '' : `?${text}`
}

const parseAnswerBody = <T>({ body }: WireResponse): T => JSON.parse(body ?? 'null') as T

/** The sentence in an error answer of Ironic, in any of its shapes; the body itself when it has none of them. */
export function ironicSentence({ status, body }: WireResponse): string {
  try {
    const outer = JSON.parse(body ?? '') as { error_message?: unknown; error?: { message?: string } }
    // Ironic's middleware for passwords has a shape of its own.
    if (outer.error?.message) return outer.error.message
    const inner = (typeof outer.error_message === 'string' ? JSON.parse(outer.error_message) : outer.error_message) as {
      faultstring?: string
      description?: string
      title?: string
    }
    return inner.faultstring || inner.description || inner.title || `status ${status}`
  } catch {
    return body?.trim() || `status ${status}`
  }
}

/** At rest in another state than the expected one: failed, or back in a stable state with an error (a verification that failed). */
function hasEnded({ provision_state, target_provision_state, last_error }: ApiNode): boolean {
  if (provision_state === 'error' || provision_state.endsWith(' failed')) return true
  return target_provision_state === null && last_error !== null
}

function unexpectedState(node: ApiNode, states: readonly ProvisionState[]): UserError {
  const why = node.last_error ? `: ${node.last_error}` : '.'
  return new UserError(
    'unexpected-state',
    `Node ${node.name ?? node.uuid} ended in "${node.provision_state}" instead of "${states.join('" or "')}"${why}`,
  )
}

function tooLong(node: ApiNode, states: readonly ProvisionState[], timeout: number): UserError {
  return new UserError(
    'timeout',
    `Node ${node.name ?? node.uuid} was still in "${node.provision_state}" after ${timeout / 1000} s of waiting for "${states.join('" or "')}".`,
  )
}
