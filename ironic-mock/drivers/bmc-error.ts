import type { BmcChange } from './bmc-hardware.js'

/** A call of a BMC, as far as Ironic's sentences and its patience tell calls apart. */
export interface BmcRequest {
  /** Name of the call: `read power`. */
  readonly call: string
  /** Power that is asked for. */
  readonly target?: string
  /** Change that is asked for. */
  readonly change?: BmcChange
}

/** An answer of HTTP that refuses a call. */
export interface BmcAnswer {
  readonly status: number
  readonly body?: string | undefined
}

/**
 * Thrown when a BMC does not answer, refuses the credentials, answers a call with an error, or with a document that its
 * client cannot read or that is another one.
 */
export class BmcError extends Error {
  override name = 'BmcError'
  readonly request: BmcRequest | undefined
  /** Answer to a `refused` call over HTTP. */
  readonly answer: BmcAnswer | undefined

  constructor(
    readonly why: 'unreachable' | 'unauthorized' | 'refused' | 'unreadable' | 'incomplete',
    message: string,
    { request, answer }: { request?: BmcRequest; answer?: BmcAnswer } = {},
  ) {
    super(message)
    this.request = request
    this.answer = answer
  }
}

/** True for a call that changes nothing. */
export const isBmcRead = ({ call }: BmcRequest): boolean => call.startsWith('read ')
