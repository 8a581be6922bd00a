/** A BMC that does not answer, or that does not accept the credentials. */
export class BmcRefused extends Error {
  override name = 'BmcRefused'
  constructor(
    readonly why: 'unreachable' | 'unauthorized',
    message: string,
  ) {
    super(message)
  }
}
