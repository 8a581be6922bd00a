/** Thrown when a BMC does not answer or refuses the credentials. */
export class BmcRefused extends Error {
  override name = 'BmcRefused'
  constructor(
    readonly why: 'unreachable' | 'unauthorized',
    message: string,
  ) {
    super(message)
  }
}
