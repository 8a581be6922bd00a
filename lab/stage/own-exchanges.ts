import type { HttpThrough } from '../../base/bytes/index.js'
import { defined, waitInQueue, type Clock, type Probe } from '../../base/runtime/index.js'
import {
  probedDispatch,
  probedDownloads,
  probedFiles,
  probeTransport,
  urlTargetOf,
  type Dispatch,
  type Transport,
  type WireRequest,
} from '../../base/wire/index.js'

/**
 * The requests that the lab's own agents and client have under way. Each passes the probe where it is sent, so that a fault
 * can cut it off; where it is served it must not pass again, as those of other programs do.
 */
export class OwnExchanges {
  #underWay = new Map<string, number>()

  /** A transport whose requests are known here. */
  known(transport: Transport): Transport {
    return {
      send: (request) => this.#during(exchangeKeyOf(request, urlTargetOf(request.url)), () => transport.send(request)),
    }
  }

  /** The transport of a client of the lab, whose requests are known here and pass the probe, each in a turn of its own. */
  client(transport: Transport, probe: Probe, clock: Clock): Transport {
    return queuedTransport(probeTransport(this.known(transport), probe, { from: 'client', to: 'ironic' }), clock)
  }

  async #during<Answer>(key: string, send: () => Promise<Answer>): Promise<Answer> {
    const counts = this.#underWay
    counts.set(key, (counts.get(key) ?? 0) + 1)
    try {
      return await send()
    } finally {
      const left = counts.get(key)! - 1
      if (left > 0) counts.set(key, left)
      else counts.delete(key)
    }
  }

  /** Downloads of machines, which are known here and pass the probe. */
  downloads(probe: Probe): (machine: string) => HttpThrough {
    return (machine) => {
      const seen = probedDownloads(probe, { from: 'machine', to: 'images', machine })
      return (request, send) =>
        seen(request, () => this.#during(exchangeKeyOf({ method: request.method }, urlTargetOf(request.url)), send))
    }
  }

  /**
   * The requests of other programs for live images pass the probe.
   *
   * @param nodeOf finds the node whose images a path is of
   */
  images(probe: Probe): (nodeOf: (path: string) => string | undefined) => HttpThrough {
    return (nodeOf) => {
      const others = probedFiles(probe, (path) => {
        const node = nodeOf(path)
        return { from: 'client', to: 'images', ...defined({ node }) }
      })
      return (request, send) =>
        this.#underWay.has(exchangeKeyOf({ method: request.method }, request.url)) ? send() : others(request, send)
    }
  }

  /** The API of Ironic, with the requests of other programs passing the probe. */
  probed(api: Dispatch, probe: Probe): Dispatch {
    const others = probedDispatch(api, probe, ({ target }) => ({
      from: RAMDISK_CALL.test(target) ? 'agent' : 'client',
      to: 'ironic',
    }))
    return (request) => (this.#has(request) ? api(request) : others(request))
  }

  take(): undefined {}

  /** Drops all counts: exchanges from before a restore never end. */
  restore(): void {
    this.#underWay = new Map()
  }

  #has(request: WireRequest): boolean {
    return this.#underWay.size > 0 && this.#underWay.has(exchangeKeyOf(request, request.target))
  }
}

/** A transport that sends each request in a turn of its own. */
export const queuedTransport = (transport: Transport, clock: Clock): Transport => ({
  send: (request) => waitInQueue(clock).then(() => transport.send(request)),
})

/** Calls of a ramdisk. */
const RAMDISK_CALL = /^\/(v1\/)?(lookup|heartbeat|continue_inspection)\b/

const exchangeKeyOf = ({ method, body }: Pick<WireRequest, 'method' | 'body'>, target: string): string =>
  `${method} ${target}\n${body ?? ''}`
