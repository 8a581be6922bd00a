import { basicAuthorization } from '../../../base/bytes/index.js'
import { checkNesting, defined, isObject } from '../../../base/runtime/index.js'
import { ConnectionFailed, type Transport, type WireResponse } from '../../../base/wire/index.js'
import { BmcError, type SentBmcRequest } from '../../../ironic-mock/index.js'
import type { RedfishAccount } from './redfish-access.js'
import { linkIn, objectIn, textIn, type RedfishJson } from './redfish-json.js'

/** An answer of a Redfish service that refuses nothing. */
export interface RedfishReply {
  readonly status: number
  /** Lower-case names. */
  readonly headers: WireResponse['headers']
  readonly document: RedfishJson
}

type RedfishMethod = SentBmcRequest['method']

/** A document and the tag with which it is changed. */
export interface RedfishResource extends RedfishReply {
  readonly path: string
}

interface RequestParts {
  readonly body?: RedfishJson
  readonly etag?: string
  readonly signal?: AbortSignal | undefined
}

type Credentials = Readonly<Record<string, string>>

/** Result of signing in. */
interface OpenedAccount {
  readonly root: RedfishJson
  readonly credentials: Credentials
  /** Path of the session, which ends with the connection. */
  readonly session: string | undefined
}

/** Redirects of one read that are followed, each to the same service. */
const MAX_REDFISH_REDIRECTS = 5
/** Largest document that is read, in bytes. */
export const MAX_BMC_DOCUMENT_BYTES = 4 * 2 ** 20

/**
 * One account at a Redfish service: by a session, or by Basic authentication where the service opens none, as sushy 5.14.0
 * does it (auth.py, connector.py). A request is sent once: its caller decides whether it is sent again.
 */
export class RedfishConnection {
  readonly #account: RedfishAccount
  readonly #transport: Transport
  #opening: Promise<OpenedAccount> | undefined
  #opened: OpenedAccount | undefined

  constructor(account: RedfishAccount, transport: Transport) {
    this.#account = account
    this.#transport = transport
  }

  get account(): RedfishAccount {
    return this.#account
  }

  /** The service root, which needs no credentials. */
  async root(): Promise<RedfishJson> {
    return (await this.#open()).root
  }

  /** @throws BmcError */
  async get(path: string, signal?: AbortSignal): Promise<RedfishResource> {
    return { path, ...(await this.#authorized('GET', path, { signal })) }
  }

  async post(path: string, body: RedfishJson | undefined, signal?: AbortSignal): Promise<RedfishReply> {
    return this.#authorized('POST', path, { signal, ...defined({ body }) })
  }

  async delete(path: string, signal?: AbortSignal): Promise<void> {
    await this.#authorized('DELETE', path, { signal })
  }

  /**
   * Changes a resource, with its tag. Some services refuse a weak tag that they have sent themselves, and some any (sushy
   * 5.14.0 connector.py _etag_handler).
   */
  async patch(path: string, body: RedfishJson, etag: string | undefined, signal?: AbortSignal): Promise<RedfishReply> {
    const [, strong] = /^W\/("\w*")$/.exec(etag ?? '') ?? []
    const tags = etag === undefined ? [undefined] : [etag, ...(strong === undefined ? [] : [strong]), undefined]
    for (const tag of tags)
      try {
        return await this.#authorized('PATCH', path, { body, signal, ...defined({ etag: tag }) })
      } catch (error) {
        if (!(error instanceof BmcError) || error.answer?.status !== 412 || tag === undefined) throw error
      }
    throw new Error('the last try without a tag has ended')
  }

  /** Ends the session, since most BMCs allow few; one that cannot be ended ends by itself. */
  async close(): Promise<void> {
    const opened = await this.#opening?.catch(() => undefined)
    this.#opening = this.#opened = undefined
    if (opened?.session === undefined) return
    await this.#exchange('DELETE', opened.session, {}, opened.credentials).catch(() => {})
  }

  #open(): Promise<OpenedAccount> {
    this.#opening ??= this.#signIn().then(
      (opened) => (this.#opened = opened),
      (error: unknown) => {
        this.#opening = undefined
        throw error
      },
    )
    return this.#opening
  }

  async #signIn(): Promise<OpenedAccount> {
    const { root: path, auth, username, password } = this.#account
    const { document: root } = await this.#exchange('GET', path, {}, {})
    const basic: Credentials = {
      authorization: basicAuthorization({ username: username ?? '', password: password ?? '' }),
    }
    if (auth === 'basic') return { root, credentials: basic, session: undefined }
    const sessions = linkIn(objectIn(root, 'Links'), 'Sessions') ?? `${path}SessionService/Sessions`
    try {
      const body = { UserName: username ?? null, Password: password ?? null }
      const { headers, document } = await this.#exchange('POST', sessions, { body }, {})
      const token = headers['x-auth-token']
      if (token !== undefined)
        return {
          root,
          credentials: { 'x-auth-token': token },
          session: headers['location'] ?? textIn(document, '@odata.id'),
        }
      if (auth === 'session') throw this.#unreadable('POST', sessions, 'No X-Auth-Token returned from remote host')
    } catch (error) {
      const isLost = !(error instanceof BmcError) || error.why === 'unreachable'
      if (isLost || auth === 'session') throw error
    }
    return { root, credentials: basic, session: undefined }
  }

  async #authorized(method: RedfishMethod, path: string, parts: RequestParts): Promise<RedfishReply> {
    const opened = await this.#open()
    try {
      return await this.#exchange(method, path, parts, opened.credentials)
    } catch (error) {
      if (!(error instanceof BmcError)) throw error
      const hasSession = 'x-auth-token' in opened.credentials
      if (error.why === 'unreachable' || (error.why === 'unauthorized' && !hasSession)) this.#forget(opened)
      if (error.why !== 'unauthorized' || !hasSession) throw error
      // The session has ended: once more with another.
      this.#forget(opened)
      return this.#exchange(method, path, parts, (await this.#open()).credentials)
    }
  }

  /** The next request signs in again, unless another has done so already. */
  #forget(opened: OpenedAccount): void {
    if (this.#opened === opened) this.#opening = this.#opened = undefined
  }

  async #exchange(
    method: RedfishMethod,
    path: string,
    { body, etag, signal }: RequestParts,
    credentials: Credentials,
  ): Promise<RedfishReply> {
    let url = this.#urlOf(path, { method, url: `${this.#account.origin}${this.#account.root}` })
    for (let redirects = 0; ; redirects++) {
      const sent: SentBmcRequest = { method, url: url.href }
      const headers = {
        ...credentials,
        accept: 'application/json',
        'odata-version': '4.0',
        'accept-encoding': 'identity',
        // Some BMCs choke at connections that stay open (sushy 5.14.0 connector.py).
        connection: 'close',
        ...defined({ 'content-type': body === undefined ? undefined : 'application/json', 'if-match': etag }),
      }
      const answer = await this.#send({
        ...sent,
        headers,
        ...defined({ body: body === undefined ? undefined : JSON.stringify(body), signal }),
      })
      const { status } = answer
      const location = answer.headers['location']
      const redirected = [301, 302, 303, 307, 308].includes(status) && location !== undefined
      if (!redirected) return replyIn(answer, sent)
      if (method !== 'GET' || redirects === MAX_REDFISH_REDIRECTS)
        throw this.#unreadable(method, url.href, method === 'GET' ? 'it redirects without end' : 'it is redirected')
      url = this.#urlOf(new URL(location, url).href, sent)
    }
  }

  async #send(request: Parameters<Transport['send']>[0] & SentBmcRequest): Promise<WireResponse> {
    try {
      return await this.#transport.send(request)
    } catch (error) {
      if (!(error instanceof ConnectionFailed)) throw error
      const { method, url } = request
      const message = error.cause instanceof Error ? error.cause.message : error.message
      throw new BmcError('unreachable', message, { sent: { method, url } })
    }
  }

  /** The URL of a path or link: credentials never leave for another host. */
  #urlOf(path: string, sent: SentBmcRequest): URL {
    const { origin } = this.#account
    const url = URL.canParse(path, origin) ? new URL(path, origin) : undefined
    if (url?.origin === origin) return url
    throw this.#unreadable(sent.method, sent.url, `it leads to ${url?.origin ?? 'no URL'}, which is another service`)
  }

  #unreadable(method: RedfishMethod, url: string, why: string): BmcError {
    const sent = { method, url: new URL(url, this.#account.origin).href }
    return new BmcError('unreadable', `HTTP ${method} ${sent.url}: ${why}`, { sent })
  }
}

function replyIn({ status, headers, body = '' }: WireResponse, sent: SentBmcRequest): RedfishReply {
  if (status >= 400)
    throw new BmcError(status === 401 || status === 403 ? 'unauthorized' : 'refused', `the BMC answered ${status}`, {
      sent,
      answer: { status, body },
    })
  return { status, headers, document: documentIn(body, sent) }
}

/** The document of an answer; that of an answer to a change is not needed. */
function documentIn(body: string, sent: SentBmcRequest): RedfishJson {
  try {
    const document: unknown = JSON.parse(body)
    checkNesting(document, sent.url)
    if (isObject(document)) return document
  } catch {
    // Refused below, where it is read.
  }
  if (sent.method !== 'GET') return {}
  // The words of Python's reader for a document that is none.
  const at = body.trimEnd().length
  throw new BmcError('unreadable', `Expecting value: line 1 column ${at + 1} (char ${at})`, { sent })
}
