import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import { defined, isObject } from '../../../base/runtime/index.js'
import type { RelayTarget } from './relay.js'

/** An agent as its last heartbeat described it. */
interface KnownAgent {
  readonly target: RelayTarget
}

/** A recorder serves more agents than any Ironic has; older ones are forgotten, since a heartbeat may come from anywhere. */
const MAX_RECORDED_AGENTS = 20_000

/** Below it Ironic is asked by agents only. */
export const isAgentCall = (method: string, target: string): boolean =>
  /^\/v1\/(lookup|heartbeat|continue_inspection)(?=[/?]|$)/.test(target) && method !== 'HEAD'

export const heartbeatNode = (method: string, target: string): string | undefined =>
  method === 'POST' ? /^\/v1\/heartbeat\/([^/?]+)\/?(?:\?|$)/.exec(target)?.[1] : undefined

/** IPA looks at Ironic's root before it looks a node up; its requests name no microversion and say that they carry JSON. */
export const isAgentRoot = ({ method, url, headers }: IncomingMessage): boolean =>
  method === 'GET' &&
  url === '/' &&
  headers['x-openstack-ironic-api-version'] === undefined &&
  /\bjson\b/.test(headers['content-type'] ?? '')

/** The callback URLs of agents, and the URLs by which Ironic reaches them through the recorder. */
export class AgentCallbacks {
  readonly #agents = new Map<string, KnownAgent>()
  readonly #callback: (node: string, secure: boolean, host: string) => Promise<{ url: string; certificate?: string }>
  readonly #tls: RelayTarget['tls']

  /**
   * @param callback the URL for a node, with the certificate that is believed there
   * @param tls for agents with a certificate that is not their own
   */
  constructor(
    callback: (node: string, secure: boolean, host: string) => Promise<{ url: string; certificate?: string }>,
    tls: RelayTarget['tls'],
  ) {
    this.#callback = callback
    this.#tls = tls
  }

  /** The target of a node's agent; undefined before its first heartbeat. */
  agent(node: string): RelayTarget | undefined {
    return this.#agents.get(node)?.target
  }

  /**
   * Remembers where an agent is, and gives the heartbeat that names the recorder instead; undefined for one that is to be
   * passed on as it is.
   *
   * @param host by which the agent reached the recorder: Ironic reaches it there too
   */
  async heartbeat(node: string, body: Buffer, host: string): Promise<Buffer | undefined> {
    const beat = parseAgentDocument(body)
    const callback = beat?.['callback_url']
    if (typeof callback !== 'string' || !URL.canParse(callback)) return undefined
    const { protocol } = new URL(callback)
    if (protocol !== 'http:' && protocol !== 'https:') return undefined
    const own = beat!['agent_verify_ca']
    // The very certificate of the agent, whose name does not matter.
    const tls = typeof own === 'string' ? { ca: own, checkServerIdentity: () => undefined } : this.#tls
    this.#agents.delete(node)
    this.#agents.set(node, { target: { url: callback.replace(/\/+$/, ''), tls } })
    if (this.#agents.size > MAX_RECORDED_AGENTS) this.#agents.delete(this.#agents.keys().next().value!)
    const { url, certificate } = await this.#callback(node, protocol === 'https:', host)
    const rewritten = {
      ...beat,
      callback_url: url,
      ...defined({ agent_verify_ca: certificate }),
    }
    return Buffer.from(JSON.stringify(rewritten))
  }
}

function parseAgentDocument(body: Buffer): Record<string, unknown> | undefined {
  try {
    const value = JSON.parse(body.toString('utf8')) as unknown
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** The host of a `Host` header, without its port; an IPv6 address without brackets. */
export function parseHostHeader(header: string | undefined, otherwise: string): string {
  const name = /^(\[[^\]]+\]|[^:/\s]+)(:\d+)?$/.exec(header ?? '')?.[1] ?? otherwise
  return name.replace(/^\[|\]$/g, '')
}

export const authority = (host: string, port: number): string => `${isIP(host) === 6 ? `[${host}]` : host}:${port}`
