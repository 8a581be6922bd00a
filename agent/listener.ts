import type { Clock, Logger } from '../runtime/index.js'
import { Mounts, serveHttp, type Dispatch, type HttpServer } from '../wire/index.js'

export interface AgentListenerOptions {
  /** Address to listen on; `127.0.0.1` unless told otherwise. */
  host?: string
  /** Where Ironic reaches it, as `http://HOST:PORT`, when that is not where it listens. */
  advertise?: string
  /** 0 picks a free port. */
  port: number
  clock: Clock
  logger?: Logger
}

/**
 * One HTTP listener for any number of agents, each below a path of its own: Ironic takes callback URLs with a path.
 */
export class AgentListener implements AsyncDisposable {
  readonly #mounts: Mounts
  readonly #server: HttpServer

  /** What callback URLs begin with: no trailing slash. */
  readonly url: string

  private constructor(mounts: Mounts, server: HttpServer, advertise: string | undefined) {
    this.#mounts = mounts
    this.#server = server
    this.url = advertise?.replace(/\/+$/, '') ?? server.url
  }

  /** @throws UserError when it cannot listen there */
  static async open(options: AgentListenerOptions): Promise<AgentListener> {
    const mounts = new Mounts()
    return new AgentListener(mounts, await serveHttp({ ...options, dispatch: mounts.dispatch }), options.advertise)
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

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server[Symbol.asyncDispose]()
  }
}

/** IPA's own callback URLs have no path. */
const pathOf = (name: string | null): string => (name === null ? '' : `/${encodeURIComponent(name)}`)
