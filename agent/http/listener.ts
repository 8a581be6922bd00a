import { authority, bracketHost } from '../../base/bytes/index.js'
import { defined, type Clock, type Logger, type Random } from '../../base/runtime/index.js'
import {
  ConnectionFailed,
  Mounts,
  serveHttp,
  type Dispatch,
  type HttpServer,
  type TlsIdentity,
  type TlsOptions,
} from '../../base/wire/index.js'
import type { AgentTlsServer } from '../agent-options.js'
import { bodyRefused } from './api.js'
import { selfSigned } from './agent-certificate.js'
import type { ServerTls } from '../configuration.js'
import type { TlsRules } from '../agent-phases.js'

export interface AgentListenerOptions {
  /** Address to listen on, by default `127.0.0.1`. */
  host?: string
  /** Names by which clients may call besides those of this host. */
  allowedHosts?: readonly string[] | undefined
  /** Address of the callback URLs, where it differs from the listening one. */
  advertise?: { protocol?: 'http' | 'https'; host?: string; port?: number }
  /** 0 picks a free port. */
  port: number
  /** Serves the requests that come by the socket by those that reach the agents. */
  enter?: (dispatch: Dispatch) => Dispatch
  /** TLS from the start, with a certificate that Ironic already trusts. */
  tls?: TlsOptions
  clock: Clock
  logger?: Logger
}

/** HTTP listener of any number of agents, each below its own path: Ironic accepts callback URLs with a path. */
export class AgentListener implements AsyncDisposable {
  readonly #mounts: Mounts
  readonly #server: HttpServer
  readonly #clock: Clock
  #identity: Promise<TlsIdentity> | undefined
  #prepared: TlsIdentity | undefined

  /** Beginning of callback URLs, without trailing slash. It stays the same when the listener starts TLS later. */
  readonly url: string

  private constructor(
    mounts: Mounts,
    /** Reaches the agents without a socket. */
    readonly dispatch: Dispatch,
    server: HttpServer,
    { advertise = {}, clock, tls, host }: AgentListenerOptions,
  ) {
    this.#mounts = mounts
    this.#server = server
    this.#clock = clock
    const { protocol = tls ? 'https' : 'http', port = server.port } = advertise
    const reached = advertise.host ?? host ?? '127.0.0.1'
    this.url = `${protocol}://${authority(reached, port)}`
  }

  /** @throws UserError when it cannot listen there */
  static async open(options: AgentListenerOptions): Promise<AgentListener> {
    const mounts = new Mounts()
    // Without its agent (the machine is off or booted another system) a connection fails instead of getting a 404.
    const dispatch: Dispatch = (request) =>
      mounts.find(request.target.replace(/\?.*$/s, ''))
        ? mounts.dispatch(request)
        : Promise.reject(new ConnectionFailed(`no agent is at ${request.target}`))
    const { enter } = options
    const entering = enter ? enter(dispatch) : dispatch
    const advertised = options.advertise?.host
    const publicUrl = advertised === undefined ? undefined : `http://${bracketHost(advertised)}`
    const server = await serveHttp({ ...options, dispatch: entering, publicUrl, refuse: bodyRefused })
    return new AgentListener(mounts, dispatch, server, options)
  }

  get port(): number {
    return this.#server.port
  }

  /** Callback URL of the agent with this name; null for an agent alone on the listener. */
  urlOf(name: string | null): string {
    return this.url + agentPathOf(name)
  }

  mount(name: string | null, dispatch: Dispatch): Disposable {
    return this.#mounts.add(agentPathOf(name), dispatch)
  }

  /** Makes the identity for {@link tls} beforehand, so that the first agent does not wait for it. */
  async prepareTls(parts: { hostname: string; random: Random }): Promise<void> {
    this.#prepared = await selfSigned({ ...parts, address: this.#address, clock: this.#clock })
  }

  /**
   * TLS for {@link AgentOptions.tls}: the first agent that asks switches the whole listener to TLS, with its earlier
   * identity or a new one for the advertised address; the others share it.
   */
  tls({ random, settings = {} }: { random: Random; settings?: Partial<ServerTls> }): AgentTlsServer {
    const { curve } = settings
    const make = (hostname: string): Promise<TlsIdentity> =>
      selfSigned({ hostname, address: this.#address, random, clock: this.#clock, ...defined({ curve }) })
    const startTls = async (identity: TlsIdentity | null, hostname: string, rules?: TlsRules): Promise<TlsIdentity> => {
      const minVersion = rules?.minVersion ?? settings.minVersion
      const ciphers = rules?.ciphers ?? settings.ciphers
      const { certificate, key } = identity ?? this.#prepared ?? (await make(hostname))
      this.#server.secure({ certificate, key, ...defined({ minVersion, ciphers: ciphers || undefined }) })
      return { certificate, key }
    }
    return {
      serve: (identity, hostname, rules) => {
        const serving = (this.#identity ??= startTls(identity, hostname, rules))
        serving.catch(() => (this.#identity = undefined))
        return serving
      },
    }
  }

  get #address(): string {
    return new URL(this.url).hostname.replace(/^\[|\]$/g, '')
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server[Symbol.asyncDispose]()
  }
}

/** Path of an agent; none for a single one, as IPA's callback URLs have none. */
const agentPathOf = (name: string | null): string => (name === null ? '' : `/${encodeURIComponent(name)}`)
