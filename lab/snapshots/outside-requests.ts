import { UserError } from '../../base/runtime/index.js'
import type { Dispatch } from '../../base/wire/index.js'
import type { ServerName } from './lab-input.js'
import type { Inputs } from './inputs.js'
import { isOfLab } from './perform.js'

/** Lets requests of other programs in, which come by sockets, once the lab is whole. */
export class OutsideRequests {
  #inputs: Inputs | undefined
  #isOpen = false
  #opened = (): void => {}
  readonly #opening = new Promise<void>((resolve) => (this.#opened = resolve))
  readonly #dispatches = new Map<ServerName, Dispatch>()

  /** The log of calls, once the lab is whole and if it has one. */
  get inputs(): Inputs | undefined {
    return this.#inputs
  }

  open(inputs: Inputs | undefined): void {
    this.#inputs = inputs
    this.#isOpen = true
    this.#opened()
  }

  /** The dispatch behind a door, which the log does not see. */
  dispatchOf(door: ServerName): Dispatch | undefined {
    return this.#dispatches.get(door)
  }

  /** Serves requests to `dispatch`, as calls of the log. One that a restore has cut off is answered with 503. */
  serving(door: ServerName, dispatch: Dispatch): Dispatch {
    this.#dispatches.set(door, dispatch)
    return async (request) => {
      if (!this.#isOpen) await this.#opening
      if (!this.#inputs?.isOn || (door === 'api' && isOfLab(request.target))) return dispatch(request)
      try {
        return await this.#inputs.call({ do: 'serve', door, request })
      } catch (error) {
        if (!(error instanceof UserError && error.code === 'snapshot-restored')) throw error
        const body = { error_message: { faultcode: 'Server', faultstring: error.message, debuginfo: null } }
        return { status: 503, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
      }
    }
  }
}
