import { defined, isObject, type Probe } from '../../base/runtime/index.js'
import { ConnectionFailed, type WireResponse } from '../../base/wire/index.js'
import { BmcError, isBmcRead, type BmcRequest } from '../../ironic-mock/index.js'
import type { BmcPoint } from './bmc-point.js'

/**
 * A call of this lab's Ironic over Redfish. For those who see its point it is an exchange by HTTP, so that a fault can
 * change its answer; the answer is read as Ironic's client reads it.
 *
 * @throws BmcError for a lost connection, an answer with an error, and one that cannot be read
 */
export async function callOverRedfish<T>(
  probe: Probe,
  point: BmcPoint,
  request: BmcRequest,
  work: () => Promise<T>,
): Promise<T> {
  // With or without those who see it, a call takes as many turns of the event loop.
  if (!probe.watches('bmc')) return namingCall(request, async () => probe.around(point, async () => work()))
  return namingCall(request, async () => {
    const answer = await probe.around<WireResponse | undefined>(point, async () => answerWith(await work()))
    // A BMC that reports success without an answer to read.
    return answer === undefined ? (undefined as T) : (valueIn(answer, request) as T)
  })
}

/** Has the errors of a call name it. */
export async function namingCall<T>(request: BmcRequest, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof ConnectionFailed) throw new BmcError('unreachable', error.message, { request })
    if (error instanceof BmcError && !error.request)
      throw new BmcError(error.why, error.message, { request, ...defined({ answer: error.answer, sent: error.sent }) })
    throw error
  }
}

const answerWith = (value: unknown): WireResponse =>
  value === undefined
    ? { status: 204, headers: {} }
    : { status: 200, headers: { 'content-type': 'application/json' }, body: JSON.stringify({ value }) }

/** Value in a successful answer; the answer to a change is not read. */
function valueIn({ status, body }: WireResponse, request: BmcRequest): unknown {
  if (status >= 400) throw new BmcError('refused', `the BMC answered ${status}`, { request, answer: { status, body } })
  if (status === 204) return undefined
  const document = readBody(body ?? '{}', request)
  if (isObject(document) && 'value' in document) return document.value
  if (!isBmcRead(request)) return undefined
  throw new BmcError('incomplete', 'the BMC answered with another document', { request })
}

function readBody(body: string, request: BmcRequest): unknown {
  try {
    return JSON.parse(body)
  } catch {
    if (!isBmcRead(request)) return undefined
    // The words of Python's reader for a document that ends in the middle.
    const at = body.length
    const message = `Expecting value: line 1 column ${at + 1} (char ${at})`
    throw new BmcError('unreadable', message, { request })
  }
}
