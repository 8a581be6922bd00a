import { isLoopback } from '../../../base/bytes/index.js'
import { UserError, type Clock } from '../../../base/runtime/index.js'

/** `connected` sites reach the Internet; `disconnected` ones their own services and mirrors alone. */
export type Reachability = 'connected' | 'disconnected'

/** Something that a disconnected site asked for and did not get. */
export interface RefusedAccess {
  /** Milliseconds since the epoch, in lab time. */
  at: number
  /** A URL, or the registry's part of a pullspec. */
  what: string
}

export interface NetworkOptions {
  clock: Clock
  reachability: Reachability
  /** Hosts, with their ports, of the mirrors: `mirror.lab:5000`. */
  mirrors: readonly string[]
}

/** Places that the computers and pods of a site reach. Services of the site itself listen on this host's loopback addresses. */
export class SiteNetwork {
  readonly #options: NetworkOptions
  readonly #refused: RefusedAccess[] = []
  /** Origins on this host that stand for the Internet. */
  readonly #outside = new Set<string>()
  readonly #ownHosts: Set<string>

  constructor(options: NetworkOptions) {
    this.#options = options
    this.#ownHosts = new Set(options.mirrors)
  }

  get reachability(): Reachability {
    return this.#options.reachability
  }

  /** Refused accesses, in their order. */
  get refused(): readonly RefusedAccess[] {
    return this.#refused
  }

  /** Takes a server of this host for one of the Internet. */
  isOutside(origin: string): void {
    this.#outside.add(new URL(origin).origin)
  }

  /** Takes a host for one of the site's own, which is reached without the Internet. */
  admit(host: string): void {
    this.#ownHosts.add(host)
  }

  /** True if a host is reached; a refusal is noted as `what`. */
  reaches(host: string, what: string): boolean {
    const { reachability, clock } = this.#options
    if (reachability === 'connected' || this.#ownHosts.has(host)) return true
    this.#refused.push({ at: clock.now(), what })
    return false
  }

  /** @throws UserError `site-unreachable`; refusals are noted */
  check(url: string): void {
    const { origin, host, hostname } = new URL(url)
    if (!this.#outside.has(origin) && (isLoopback(hostname) || hostname.endsWith('.invalid'))) return
    if (!this.reaches(host, url))
      throw new UserError('site-unreachable', `${host} is not reached: the site is disconnected`)
  }
}
