import type { Dispatch } from '../../base/wire/index.js'

/** Entry of the API, which exists before the API itself, and while Ironic is stopped. */
export interface ApiSwitch {
  readonly dispatch: Dispatch
  /** A reason why no requests shall come: they wait, get 503, or are the last ones; null while the API answers. */
  readonly closedReason: string | null
  /** Sets the API that answers waiting and later requests. */
  open(dispatch: Dispatch): void
  /** Answers waiting and later requests with 503, as the proxy in front of an Ironic that does not run. */
  shut(): void
  /** Lets later requests wait for the next {@link open}. */
  hold(): void
  /**
   * Answers the last requests before the end as usual, and closes their connections: proxies keep some open, and would
   * send a request into the end of one.
   */
  drain(): void
}

/**
 * Accepts requests before the API can answer. Machines of an earlier start and their agents know the address and call at
 * once, while the conductor still takes over the work of the earlier one. Early requests wait.
 */
export function openApiSwitch(): ApiSwitch {
  let opened: Dispatch | undefined
  let closedReason: string | null = null
  let isDraining = false
  let open = (_dispatch: Dispatch): void => {}
  let opening: Promise<Dispatch>
  const hold = (): void => {
    opened = undefined
    closedReason = 'Ironic is starting'
    opening = new Promise<Dispatch>((resolve) => (open = resolve))
  }
  const become = (dispatch: Dispatch, reason: string | null): void => {
    opened = dispatch
    closedReason = reason
    open(dispatch)
  }
  hold()
  return {
    dispatch: async (request) => {
      const answer = await (opened ?? (await opening))(request)
      return isDraining ? { ...answer, headers: { ...answer.headers, connection: 'close' } } : answer
    },
    get closedReason() {
      return closedReason
    },
    open: (dispatch) => become(dispatch, null),
    shut: () =>
      become(
        () => Promise.resolve({ status: 503, headers: { 'content-type': 'text/plain' }, body: 'not started\n' }),
        'Ironic is stopped',
      ),
    hold,
    drain: () => {
      isDraining = true
      closedReason = 'Ironic is about to stop'
    },
  }
}
