import type { Dispatch } from '../../wire/index.js'

/** Entry of the API, which exists before the API itself. */
export interface Front {
  readonly dispatch: Dispatch
  /** Sets the API that answers waiting and later requests. */
  open(dispatch: Dispatch): void
  /** Answers waiting requests with 503. */
  shut(): void
}

/**
 * Accepts requests before the API can answer. Machines of an earlier start and their agents know the address and call at
 * once, while the conductor still takes over the work of the earlier one. Early requests wait.
 */
export function openFront(): Front {
  let opened: Dispatch | undefined
  let open = (_dispatch: Dispatch): void => {}
  const opening = new Promise<Dispatch>((resolve) => {
    open = resolve
  })
  return {
    dispatch: async (request) => (opened ?? (await opening))(request),
    open: (dispatch) => {
      opened ??= dispatch
      open(dispatch)
    },
    shut: () =>
      open(() => Promise.resolve({ status: 503, headers: { 'content-type': 'text/plain' }, body: 'not started\n' })),
  }
}
