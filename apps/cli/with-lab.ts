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
    if (error instanceof ControlRefused) throw await refusalInCommand(error, lab)
    if (error instanceof UserError) throw error
    // The client's own sentence around the cause only says that no answer came.
    const cause = error instanceof Error ? (error.cause ?? error) : error
    throw new UserError('lab-unreachable', `no ironstage answers at ${lab.url}`, {
      cause,
      remedy: ERRORS['lab-unreachable'].remedy,
    })
  }
}

/** The remedies of the API name its calls; a command's user has commands. */
const COMMAND_REMEDIES: Readonly<Record<string, string>> = {
  'bad-request': "see the command's --help",
  'no-such-fault': 'ironstage fault list shows the faults',
  'not-reached': 'ironstage journal --node NODE shows what happened',
}

async function refusalInCommand({ code, message, remedy, status }: ControlRefused, lab: LabClient): Promise<UserError> {
  const shown = code === 'no-such-node' ? await nodesToName(lab) : (COMMAND_REMEDIES[code] ?? remedy ?? undefined)
  return new UserError(code as ErrorCode, message, {
    kind: status === 400 ? 'usage' : 'failure',
    ...defined({ remedy: shown }),
  })
}

/** Nodes that a remedy names. */
const MAX_NAMED_NODES = 5

async function nodesToName(lab: LabClient): Promise<string> {
  const { nodes } = await lab.nodes()
  const named = nodes.slice(0, MAX_NAMED_NODES).map(({ name, uuid }) => name ?? uuid)
  if (named.length === 0) return 'the lab has no nodes: enroll one first'
  const more = nodes.length - named.length
  return `name one of its nodes: ${named.join(', ')}${more > 0 ? ` and ${more} more` : ''}`
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
