import { HttpClient } from '../bytes/index.js'
import { systemClock, UserError, type ErrorCode } from '../runtime/index.js'
import { HttpTransport } from '../wire/index.js'
import type { Environment } from './environment.js'
import { accessOf } from './options/ironic-access.js'

const DEFAULT_URL = 'http://127.0.0.1:6385'

/** A lab that runs in another process, by its control API. */
export class LabClient {
  readonly #environment: Environment
  readonly #url: string

  /** @param url of its Ironic; default: that of the environment */
  constructor(url: string | undefined, environment: Environment) {
    const { OS_ENDPOINT, IRONIC_ENDPOINT } = environment.variables
    this.#environment = environment
    this.#url = (url ?? (OS_ENDPOINT || IRONIC_ENDPOINT || DEFAULT_URL)).replace(/\/+(v1\/*)?$/, '')
  }

  /**
   * Calls the control API.
   *
   * @returns the document of the answer; undefined where it has none
   * @throws UserError with the code and remedy of a refusal; `no-lab` where no ironstage answers
   */
  async ask(method: string, path: string, body?: unknown): Promise<unknown> {
    const { headers, tls } = await accessOf(this.#environment.variables)
    await using transport = new HttpTransport({ clock: systemClock(), tls, timeoutMs: LONGEST_WAIT })
    const answer = await transport
      .send({
        ...{ method, url: `${this.#url}/_lab${path}`, signal: this.#environment.stopped },
        headers: { accept: 'application/json', 'content-type': 'application/json', ...headers },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
      .catch((cause: unknown) => {
        if (this.#environment.stopped.aborted) throw cause
        throw this.#noLab('did not answer', cause)
      })
    if (answer.status < 300) return answer.body ? (JSON.parse(answer.body) as unknown) : undefined
    throw this.#refusal(answer.status, answer.body ?? '')
  }

  /** The body of an answer as it comes, for as long as it does. */
  async *stream(path: string): AsyncGenerator<string> {
    const { headers, tls } = await accessOf(this.#environment.variables)
    const http = new HttpClient({
      clock: systemClock(),
      limits: { silence: NEVER, slowest: { bytes: 0, within: NEVER } },
      ...(tls.ca === undefined ? {} : { ca: tls.ca }),
    })
    const url = `${this.#url}/_lab${path}`
    const answer = await http.get({ url, headers, signal: this.#environment.stopped }).catch((cause: unknown) => {
      if (this.#environment.stopped.aborted) throw cause
      throw this.#noLab('did not answer', cause)
    })
    if (answer.status >= 300) throw this.#refusal(answer.status, (await answer.bytes(64 * 1024)).toString())
    const text = new TextDecoder()
    try {
      for await (const part of answer.body) yield text.decode(part, { stream: true })
    } finally {
      await answer.close()
    }
  }

  #refusal(status: number, body: string): UserError {
    const error = errorIn(body)
    if (!error) return this.#noLab(`answered ${status}`)
    const { code, message, remedy } = error
    return new UserError(code as ErrorCode, message, {
      kind: status === 400 ? 'usage' : 'failure',
      ...(remedy === null ? {} : { remedy }),
    })
  }

  #noLab(what: string, cause?: unknown): UserError {
    return new UserError('no-lab', `${this.#url}/_lab ${what}`, {
      remedy: 'start ironstage up, and name its URL with --url',
      ...(cause === undefined ? {} : { cause }),
    })
  }
}

/** Time in which an answer begins, in milliseconds: moving a lab by weeks takes a while. */
const LONGEST_WAIT = 600_000
const NEVER = 2 ** 31 - 1

function errorIn(body: string): { code: string; message: string; remedy: string | null } | undefined {
  try {
    const { error } = JSON.parse(body) as { error?: { code?: unknown; message?: unknown; remedy?: unknown } }
    return typeof error?.code === 'string' && typeof error.message === 'string'
      ? { code: error.code, message: error.message, remedy: typeof error.remedy === 'string' ? error.remedy : null }
      : undefined
  } catch {
    return undefined
  }
}
