import type { Agent } from 'node:http'
import {
  basicAuthorization,
  DEFAULT_HTTP_LIMITS,
  requestOnce,
  FetchFailure,
  readUpTo,
  retryAfter,
} from '../../../base/bytes/index.js'
import {
  checkNesting,
  defined,
  isObject,
  seconds,
  UserError,
  userError,
  type Clock,
  type Logger,
} from '../../../base/runtime/index.js'
import { objectIn, textIn, type RedfishJson } from '../../../lab/index.js'
import { bmcAgent, type BmcTrust } from './pinned-agent.js'

export interface RedfishClientOptions extends BmcTrust {
  /** `https://192.0.2.11` */
  url: string
  username: string
  password: string
  clock: Clock
  logger: Logger
}

export interface RedfishAnswer {
  status: number
  headers: Readonly<Record<string, string | undefined>>
  body: RedfishJson
}

/** A BMC refused a request. */
export class RedfishRefused extends UserError {
  override readonly name = 'RedfishRefused'
  constructor(
    readonly status: number,
    message: string,
    readonly headers: RedfishAnswer['headers'] = {},
  ) {
    super('bmc-refused', message)
  }
}

const SESSIONS = '/redfish/v1/SessionService/Sessions'
/** Largest document that is read, in bytes. */
const MAX_REDFISH_DOCUMENT_BYTES = 4 * 2 ** 20
const MAX_REDFISH_ATTEMPTS = 6
/** Attempts at a service that does not answer at all. */
const MAX_SILENT_REDFISH_ATTEMPTS = 4
const MAX_REDFISH_RETRY_DELAY = seconds(60)

/**
 * Client of one Redfish service that copes with real BMCs: it uses a session, or Basic authentication if the service has no
 * sessions; retries after 503 and 429; sends the ETag if the BMC requires one; and sends one request at a time.
 */
export class RedfishClient implements AsyncDisposable {
  readonly name: string
  readonly #options: RedfishClientOptions
  readonly #agent: Agent
  #session: { token: string; location: string | null } | 'basic' | undefined
  /** A client asks one thing at a time: BMCs answer several at once badly. */
  #queue: Promise<unknown> = Promise.resolve()

  constructor(options: RedfishClientOptions) {
    this.#options = options
    const url = new URL(options.url)
    this.name = url.host
    this.#agent = bmcAgent(url, options)
  }

  async get(path: string, signal: AbortSignal): Promise<RedfishJson> {
    return (await this.send('GET', path, undefined, signal)).body
  }

  /** Changes a resource; with an ETag where the service wants one. */
  async patch(path: string, change: RedfishJson, signal: AbortSignal): Promise<void> {
    const etagNow = async () => {
      const { headers, body } = await this.send('GET', path, undefined, signal)
      return headers['etag'] ?? (typeof body['@odata.etag'] === 'string' ? body['@odata.etag'] : undefined)
    }
    const etag = await etagNow()
    // Some services refuse a weak ETag that they have sent themselves, and some any.
    const forms = etag === undefined ? [undefined] : [...new Set([etag, etag.replace(/^W\//, ''), '*']), undefined]
    for (const [index, form] of forms.entries()) {
      try {
        const answer = await this.send('PATCH', path, change, signal, form === undefined ? {} : { 'if-match': form })
        await this.finished(answer, signal)
        return
      } catch (error) {
        const isLast = index === forms.length - 1
        if (isLast || !(error instanceof RedfishRefused) || ![412, 428].includes(error.status)) throw error
      }
    }
  }

  /** Runs an action, and waits for the task that some services make of it. */
  async act(path: string, body: RedfishJson, signal: AbortSignal): Promise<void> {
    await this.finished(await this.send('POST', path, body, signal), signal)
  }

  /** @throws RedfishRefused; UserError `bmc-unreachable`, `bmc-certificate` */
  async send(
    method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
    path: string,
    body: RedfishJson | undefined,
    signal: AbortSignal,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<RedfishAnswer> {
    const { clock, logger } = this.#options
    for (let attempt = 1; ; attempt++) {
      signal.throwIfAborted()
      try {
        const answer = await this.#inTurn(() => this.#authorized(method, path, body, signal, headers))
        if (answer.status < 400) return answer
        const busy = isBusy(answer) || (method === 'GET' && answer.status >= 500)
        if (!busy || attempt >= MAX_REDFISH_ATTEMPTS) throw this.#refused(method, path, answer)
        const pause = pauseOf(answer, clock.now(), attempt)
        logger('info', `${this.name} is busy (${answer.status}); asking again in ${Math.round(pause / 1000)} s`)
        await clock.sleep(pause, { signal })
      } catch (error) {
        if (error instanceof RedfishRefused || signal.aborted || userError(error)?.code === 'bmc-certificate')
          throw signal.aborted ? signal.reason : (userError(error) ?? error)
        // A request that may have been carried out is not repeated, except where that changes nothing.
        const repeatable = method !== 'POST' || neverSent(error)
        if (!repeatable || attempt >= MAX_SILENT_REDFISH_ATTEMPTS) throw this.#unreachable(method, path, error)
        await clock.sleep(Math.min(seconds(2 ** (attempt - 1)) / 2, seconds(10)), { signal })
      }
    }
  }

  /** Ends the session: most BMCs allow few. */
  async [Symbol.asyncDispose](): Promise<void> {
    const session = this.#session
    this.#session = 'basic'
    if (typeof session === 'object' && session.location !== null) {
      const limit = new AbortController()
      const late = this.#options.clock.sleep(seconds(5), { weak: true, signal: limit.signal }).catch(() => {})
      const ended = this.#raw('DELETE', session.location, undefined, { 'x-auth-token': session.token }, limit.signal)
      await Promise.race([ended.catch(() => {}), late])
      limit.abort(new Error('done'))
    }
    this.#agent.destroy()
  }

  /** Follows the task of a 202 to its end. */
  async finished(answer: RedfishAnswer, signal: AbortSignal): Promise<void> {
    if (answer.status !== 202) return
    const monitor = answer.headers['location'] ?? textIn(answer.body, '@odata.id')
    if (monitor === undefined) return
    for (let waits = 1; ; waits++) {
      await this.#options.clock.sleep(pauseOf(answer, this.#options.clock.now(), 1, Math.min(waits, 5)), { signal })
      let task: RedfishAnswer
      try {
        task = await this.send('GET', this.#pathOf(monitor), undefined, signal)
      } catch (error) {
        // A monitor goes away with its task.
        if (error instanceof RedfishRefused && [404, 410].includes(error.status)) return
        throw error
      }
      const state = textIn(task.body, 'TaskState')
      if (state !== undefined && /^(Exception|Killed|Cancelled|Interrupted)$/.test(state))
        throw new RedfishRefused(500, `${this.name}: the task ended as ${state}${messagesIn(task.body)}`)
      if (state === 'Completed' || (task.status !== 202 && state === undefined)) return
    }
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#queue.then(work, work)
    this.#queue = result.catch(() => {})
    return result
  }

  async #authorized(
    method: string,
    path: string,
    body: RedfishJson | undefined,
    signal: AbortSignal,
    headers: Readonly<Record<string, string>>,
  ): Promise<RedfishAnswer> {
    this.#session ??= await this.#signIn(signal)
    const answer = await this.#raw(method, path, body, { ...headers, ...this.#credentials() }, signal)
    if (answer.status !== 401 || this.#session === 'basic') return answer
    // The session has ended; its place may be free again.
    this.#session = await this.#signIn(signal)
    return this.#raw(method, path, body, { ...headers, ...this.#credentials() }, signal)
  }

  /** Services without sessions, and those that have no more of them, take Basic authentication. */
  async #signIn(signal: AbortSignal): Promise<{ token: string; location: string | null } | 'basic'> {
    const { username, password, logger, clock } = this.#options
    const account = { UserName: username, Password: password }
    let answer = await this.#raw('POST', SESSIONS, account, {}, signal)
    // Some say so of a session too many; a busy one has room in a moment.
    for (let attempt = 1; isBusy(answer) && !isFull(answer) && attempt < MAX_SILENT_REDFISH_ATTEMPTS; attempt++) {
      await clock.sleep(pauseOf(answer, clock.now(), attempt), { signal })
      answer = await this.#raw('POST', SESSIONS, account, {}, signal)
    }
    const { status, headers } = answer
    const token = headers['x-auth-token']
    if (status < 300 && token !== undefined)
      return { token, location: headers['location'] === undefined ? null : this.#pathOf(headers['location']) }
    if (status !== 401) logger('info', `${this.name} opens no session (${status}); using Basic authentication`)
    return 'basic'
  }

  #credentials(): Record<string, string> {
    const session = this.#session
    if (typeof session === 'object') return { 'x-auth-token': session.token }
    return { authorization: basicAuthorization(this.#options) }
  }

  async #raw(
    method: string,
    path: string,
    body: RedfishJson | undefined,
    headers: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<RedfishAnswer> {
    const { clock } = this.#options
    const url = new URL(path, this.#options.url)
    const answer = await requestOnce({
      url,
      method,
      agent: this.#agent,
      tls: {},
      clock,
      signal,
      limits: { ...DEFAULT_HTTP_LIMITS, header: seconds(60), silence: seconds(60) },
      headers: {
        accept: 'application/json',
        'odata-version': '4.0',
        ...headers,
        ...defined({ 'content-type': body === undefined ? undefined : 'application/json' }),
      },
      ...defined({ body: body === undefined ? undefined : JSON.stringify(body) }),
    })
    const bytes = await readUpTo(MAX_REDFISH_DOCUMENT_BYTES, answer.body)
    if (bytes === null) await answer.body.close()
    return {
      status: answer.status,
      headers: answer.headers,
      body: parseRedfishDocument(bytes?.toString('utf8') ?? '', path),
    }
  }

  /** A location may be a whole URL; another host is never asked. */
  #pathOf(location: string): string {
    const url = new URL(location, this.#options.url)
    return `${url.pathname}${url.search}`
  }

  #refused(method: string, path: string, { status, body, headers }: RedfishAnswer): RedfishRefused {
    const account = status === 401 || status === 403 ? ': the account is not accepted' : ''
    return new RedfishRefused(
      status,
      `${this.name} refused ${method} ${path} (${status})${account}${messagesIn(body)}`,
      headers,
    )
  }

  #unreachable(method: string, path: string, cause: unknown): UserError {
    const known = userError(cause)
    if (known?.code === 'bmc-certificate') return known
    return new UserError('bmc-unreachable', `${this.name} does not answer ${method} ${path}`, {
      cause,
      remedy: `check its address and network: curl -k ${new URL('/redfish/v1/', this.#options.url).href}`,
    })
  }
}

const isBusy = ({ status }: RedfishAnswer): boolean => status === 503 || status === 429
const isFull = ({ body }: RedfishAnswer): boolean => JSON.stringify(body).includes('SessionLimitExceeded')

/** True if a failure came before the request was on its way. */
const neverSent = (error: unknown): boolean =>
  error instanceof FetchFailure &&
  /^(refused|unknown-host|lookup-failed|network-unreachable|host-unreachable|connect-timeout|connect-failed)$/.test(
    error.code,
  )

function pauseOf({ headers }: RedfishAnswer, now: number, attempt: number, otherwise?: number): number {
  const after = retryAfter(headers['retry-after'], now)
  if (after !== undefined) return Math.min(after, MAX_REDFISH_RETRY_DELAY)
  return otherwise === undefined ? Math.min(seconds(2 ** (attempt - 1)), seconds(30)) : seconds(otherwise)
}

function parseRedfishDocument(text: string, path: string): RedfishJson {
  try {
    const value: unknown = JSON.parse(text)
    checkNesting(value, path)
    return isObject(value) ? value : {}
  } catch {
    return {}
  }
}

/** The service's own sentences about what was wrong. */
function messagesIn(body: RedfishJson): string {
  const error = objectIn(body, 'error') ?? body
  const info = error['@Message.ExtendedInfo'] ?? error['Messages']
  const messages = (Array.isArray(info) ? info : [])
    .map((each) => textIn(each as RedfishJson, 'Message') ?? textIn(each as RedfishJson, 'MessageId'))
    .filter((each) => each !== undefined)
  const text = messages.length > 0 ? messages.slice(0, 3).join(' ') : textIn(error, 'message')
  return text === undefined ? '' : `: ${text.slice(0, 500)}`
}
