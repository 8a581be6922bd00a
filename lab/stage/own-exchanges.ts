import type { Probe } from '../../runtime/index.js'
import {
  probedDispatch,
  type Dispatch,
  type OutgoingRequest,
  type Transport,
  type WireRequest,
} from '../../wire/index.js'

/**
 * The requests that the lab's own agents and client have under way. Each passes the probe where it is sent, so that a fault
 * can cut it off; where it is served it must not pass again, as those of other programs do.
 */
export class OwnExchanges {
  readonly #underWay = new Map<string, number>()

  /** A transport whose requests are known here. */
  known(transport: Transport): Transport {
    return {
      send: async (request) => {
        const { pathname, search } = new URL(request.url)
        const key = keyOf(request, pathname + search)
        this.#underWay.set(key, (this.#underWay.get(key) ?? 0) + 1)
        try {
          return await transport.send(request)
        } finally {
          const left = this.#underWay.get(key)! - 1
          if (left > 0) this.#underWay.set(key, left)
          else this.#underWay.delete(key)
        }
      },
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

  #has(request: WireRequest): boolean {
    return this.#underWay.size > 0 && this.#underWay.has(keyOf(request, request.target))
  }
}

/** Calls of a ramdisk. */
const RAMDISK_CALL = /^\/(v1\/)?(lookup|heartbeat|continue_inspection)\b/

const keyOf = ({ method, body }: OutgoingRequest | WireRequest, target: string): string =>
  `${method} ${target}\n${body ?? ''}`
