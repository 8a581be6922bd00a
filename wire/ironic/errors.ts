/**
 * An error as Ironic's API answers it: always `{"error_message": "<JSON text>"}`, in one of two shapes
 * (facts/ironic.md 2): `wsme` from its controllers (`faultcode`, `faultstring`, `debuginfo`), `pecan` from routing and
 * version negotiation (`code`, `title`, `description`).
 */
export class IronicError extends Error {
  override name = 'IronicError'
  readonly status: number
  readonly shape: 'wsme' | 'pecan'

  constructor(status: number, message: string, shape: 'wsme' | 'pecan' = 'wsme') {
    super(message)
    this.status = status
    this.shape = shape
  }
}

/** The sentences that clients read and people search for, each as Ironic spells it. */
export const ironicErrors = {
  nodeNotFound: (ident: string) => new IronicError(404, `Node ${ident} could not be found.`),
  nodeLocked: (uuid: string, host: string) =>
    new IronicError(
      409,
      `Node ${uuid} is locked by host ${host}, please retry after the current operation is completed.`,
    ),
  invalidStateRequested: (action: string, uuid: string, state: string) =>
    new IronicError(
      400,
      `The requested action "${action}" can not be performed on node "${uuid}" while it is in state "${state}".`,
    ),
}
