/** Thrown when a BMC does not answer or refuses the credentials. */
export class BmcError extends Error {
  override name = 'BmcError'
  constructor(
    readonly why: 'unreachable' | 'unauthorized',
    message: string,
  ) {
    super(message)
  }
}
