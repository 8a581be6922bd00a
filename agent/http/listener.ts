import type { Clock, Logger, Random } from '../../runtime/index.js'
import {
  ConnectionFailed,
  Mounts,
  serveHttp,
  type Dispatch,
  type HttpServer,
  type TlsIdentity,
  type TlsOptions,
} from '../../wire/index.js'
import type { AgentTls } from '../agent-options.js'
import { bodyRefused } from './api.js'
import { selfSigned } from './certificate.js'
import type { ServerTls } from '../configuration.js'
import type { TlsRules } from '../state.js'

export interface AgentListenerOptions {
  /** Address to listen on; `127.0.0.1` unless told otherwise. */
  host?: string
  /** Where Ironic reaches it, as far as that is not where it listens. */
  advertise?: { protocol?: 'http' | 'https'; host?: string; port?: number }
  /** 0 picks a free port. */
  port: number
  /** TLS from the start, with a certificate that Ironic trusts by itself. */
  tls?: TlsOptions
  clock: Clock
  logger?: Logger
}

/**
 * One HTTP listener for any number of agents, each below a path of its own: Ironic takes callback URLs with a path.
 */
export class AgentListener implements AsyncDisposable {
  readonly #mounts: Mounts
  readonly #server: HttpServer
  readonly #clock: Clock
  #identity: Promise<TlsIdentity> | undefined

  /** What callback URLs begin with: no trailing slash. Stays as it is when the listener turns to TLS of its own. */
  readonly url: string

  private constructor(mounts: Mounts, server: HttpServer, { advertise = {}, clock, tls, host }: AgentListenerOptions) {
    this.#mounts = mounts
    this.#server = server
    this.#clock = clock
    const { protocol = tls ? 'https' : 'http', port = server.port } = advertise
    const reached = advertise.host ?? host ?? '127.0.0.1'
    this.url = `${protocol}://${reached.includes(':') ? `[${reached}]` : reached}:${port}`
  }

  /** @throws UserError when it cannot listen there */
  static async open(options: AgentListenerOptions): Promise<AgentListener> {
    const mounts = new Mounts()
    // A machine that is off, or in another system, has nobody who would answer 404.
    const dispatch: Dispatch = (request) =>
      mounts.find(request.target.replace(/\?.*$/s, ''))
        ? mounts.dispatch(request)
        : Promise.reject(new ConnectionFailed(`no agent is at ${request.target}`))
    return new AgentListener(mounts, await serveHttp({ ...options, dispatch, refuse: bodyRefused }), options)
  }

  get port(): number {
    return this.#server.port
  }

  /** The callback URL of the agent that is, or will be, mounted as `name`; null for one that has the listener to itself. */
  urlOf(name: string | null): string {
    return this.url + pathOf(name)
  }

  mount(name: string | null, dispatch: Dispatch): Disposable {
    return this.#mounts.add(pathOf(name), dispatch)
  }

  /**
   * For {@link AgentOptions.tls}: the first agent that asks turns the whole listener to TLS, with the identity that it
   * had before or a new one for the advertised address; the others share it.
   */
  tls({ random, settings = {} }: { random: Random; settings?: Partial<ServerTls> }): AgentTls {
    const { curve } = settings
    const make = (hostname: string): Promise<TlsIdentity> => {
      const address = new URL(this.url).hostname.replace(/^\[|\]$/g, '')
      return selfSigned({ hostname, address, random, clock: this.#clock, ...(curve ? { curve } : {}) })
    }
    const turn = async (kept: TlsIdentity | null, hostname: string, rules?: TlsRules): Promise<TlsIdentity> => {
      const minVersion = rules?.minVersion ?? settings.minVersion
      const ciphers = rules?.ciphers ?? settings.ciphers
      const { certificate, key } = kept ?? (await make(hostname))
      this.#server.secure({ certificate, key, ...(minVersion ? { minVersion } : {}), ...(ciphers ? { ciphers } : {}) })
      return { certificate, key }
    }
    return {
      serve: (kept, hostname, rules) => {
        const serving = (this.#identity ??= turn(kept, hostname, rules))
        serving.catch(() => (this.#identity = undefined))
        return serving
      },
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server[Symbol.asyncDispose]()
  }
}

/** IPA's own callback URLs have no path. */
const pathOf = (name: string | null): string => (name === null ? '' : `/${encodeURIComponent(name)}`)
