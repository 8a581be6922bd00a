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

/** A request over HTTP as it was sent. */
export interface SentBmcRequest {
  readonly method: 'GET' | 'PATCH' | 'POST' | 'DELETE'
  /** Without credentials. */
  readonly url: string
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
  /** Absent for a machine of this process, whose requests follow from the call. */
  readonly sent: SentBmcRequest | undefined

  constructor(
    readonly why: 'unreachable' | 'unauthorized' | 'refused' | 'unreadable' | 'incomplete',
    message: string,
    { request, answer, sent }: { request?: BmcRequest; answer?: BmcAnswer; sent?: SentBmcRequest } = {},
  ) {
    super(message)
    this.request = request
    this.answer = answer
    this.sent = sent
  }
}

/** True for a call that changes nothing. */
export const isBmcRead = ({ call }: BmcRequest): boolean => call.startsWith('read ')

/** True where reading failed: the call, or what a change has to read first. */
export const isFailedRead = ({ request, sent }: BmcError): boolean =>
  sent ? sent.method === 'GET' : request === undefined || isBmcRead(request)
