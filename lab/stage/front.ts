import type { Dispatch } from '../../wire/index.js'

/** The door of the API. */
export interface Front {
  readonly dispatch: Dispatch
  /** From now on, and for those that wait, this answers. */
  open(dispatch: Dispatch): void
  /** Whoever still waits is sent away. */
  shut(): void
}

/**
 * A door that stands before there is anybody behind it: machines that lived on, and their agents, know the address and
 * call at once, while the conductor still takes up what an earlier one left. Who comes too early waits.
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
