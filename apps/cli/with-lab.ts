import { HttpClient } from '../../base/bytes/index.js'
import { ControlRefused, LabClient } from '../../control/index.js'
import { defined, systemClock, UserError, type ErrorCode } from '../../base/runtime/index.js'
import { HttpTransport, type ClientTls } from '../../base/wire/index.js'
import type { Environment } from './environment.js'
import { accessOf } from './options/ironic-access.js'
import { ERRORS } from './errors.js'

const DEFAULT_URL = 'http://127.0.0.1:6385'

/** Time in which an answer begins, in milliseconds: moving a lab by weeks takes a while. */
const LAB_ANSWER_TIMEOUT = 600_000
const MAX_SIGNED_DELAY = 2 ** 31 - 1

/**
 * Works with a lab that runs in another process.
 *
 * @param url of its Ironic; default: that of the environment
 * @throws UserError with the code and remedy of a refusal; `lab-unreachable` where no ironstage answers
 */
export async function withLab<T>(
  url: string | undefined,
  { variables, stopped }: Environment,
  work: (lab: LabClient) => Promise<T>,
): Promise<T> {
  const { OS_ENDPOINT, IRONIC_ENDPOINT } = variables
  const { headers, tls } = await accessOf(variables)
  const lab = new LabClient(url ?? (OS_ENDPOINT || IRONIC_ENDPOINT || DEFAULT_URL), {
    headers,
    signal: stopped,
    fetch: trusting(tls),
  })
  try {
    return await work(lab)
  } catch (error) {
    if (stopped.aborted) throw error
    if (error instanceof ControlRefused) {
      const { code, message, remedy, status } = error
      throw new UserError(code as ErrorCode, message, {
        kind: status === 400 ? 'usage' : 'failure',
        ...defined({ remedy: remedy ?? undefined }),
      })
    }
    if (error instanceof UserError) throw error
    throw new UserError('lab-unreachable', `no ironstage answers at ${lab.url}`, {
      cause: error,
      remedy: ERRORS['lab-unreachable'].remedy,
    })
  }
}

/** A `fetch` with the certificates of the environment, whose answers may take their time. */
function trusting(tls: ClientTls): typeof fetch {
  const clock = systemClock()
  return async (input, init = {}) => {
    const { method = 'GET', signal, body } = init
    const headers = init.headers as Record<string, string>
    const request = { url: input as string, headers, ...defined({ signal: signal ?? undefined }) }
    if (method === 'GET' && !tls.insecure) {
      const http = new HttpClient({
        clock,
        limits: {
          header: LAB_ANSWER_TIMEOUT,
          silence: MAX_SIGNED_DELAY,
          slowest: { bytes: 0, within: MAX_SIGNED_DELAY },
        },
        ...defined({ ca: tls.ca }),
      })
      const answer = await http.get({ ...request, signal: signal ?? new AbortController().signal })
      return new Response(ReadableStream.from(answer.body) as ReadableStream<Uint8Array>, { status: answer.status })
    }
    await using transport = new HttpTransport({ clock, tls, timeoutMs: LAB_ANSWER_TIMEOUT })
    const sent = { ...request, method, ...(typeof body === 'string' ? { body } : {}) }
    const answer = await transport.send(sent)
    return new Response(answer.body ?? null, { status: answer.status })
  }
}
