import {
  basicAuthorization,
  DEFAULT_HTTP_LIMITS,
  FetchFailure,
  HttpClient,
  isLoopback,
  retryAfter,
  type SilenceListener,
  type FileAnswer,
  type FileRequest,
  type HttpClientOptions,
} from '../../bytes/index.js'
import { UserError, defined, systemClock } from '../../runtime/index.js'
import { parseChallenges, type Challenge } from './challenge.js'
import type { FoundCredentials } from './registry-credentials.js'
import { answerWords, registryUnreachableError } from './registry-failures.js'
import { bearerToken } from './token.js'
import { ERRORS } from '../errors.js'

export interface RegistryAccess {
  http: HttpClientOptions
  /** Allows http, and not only on loopback. */
  insecure: boolean
  /** For a registry and repository: `quay.io/openshift/release`. */
  credentials: (name: string) => Promise<FoundCredentials>
  /** Hears of a server that has not answered, or has sent nothing more, for a while, in a sentence. */
  onWait?: (sentence: string) => void
}

export interface RegistryRequest extends Omit<FileRequest, 'url' | 'signal'> {
  /** Path below `/v2/`, or a URL that the registry has named. */
  path: string
  repository: string
  /** Rights that the request needs: `pull`, or `pull,push`. */
  actions: string
}

/** Times that a request is sent again: after a failure that may pass, and when the registry asks to wait. */
const REGISTRY_RETRIES = { failed: 2, busy: 3 }
/** Milliseconds: before the second try, and at most where the registry says how long. */
const REGISTRY_RETRY_DELAYS = { first: 500, longest: 60_000 }

/** Failures for which a minute was waited already. */
const TIMEOUTS: readonly string[] = ['connect-timeout', 'header-timeout']
/** Part of the time that a server has for its answer, after which a user hears of the wait: 5 s of 60. */
const NOTICED_SHARE = 1 / 12

/** One registry: how it is reached, and what opens it. */
export class RegistryServer {
  readonly #host: string
  readonly #access: RegistryAccess
  readonly #http: HttpClient
  #found: Promise<{ base: URL; asked: Challenge[] }> | undefined
  /** Authorization headers by repository and actions. */
  readonly #authorizations = new Map<string, string>()

  /** @param registry its name in references: `quay.io`, `localhost:5000` */
  constructor(registry: string, access: RegistryAccess) {
    // Docker Hub's registry has another name than its images.
    this.#host = registry === 'docker.io' ? 'registry-1.docker.io' : registry
    this.#access = access
    const { through = (_request, send) => send() } = access.http
    this.#http = new HttpClient({
      ...access.http,
      allow: this.#allow,
      ...defined({ onSilence: this.#silenceListener() }),
      through: (request, send) => this.#noticed(request.url, () => through(request, send)),
    })
  }

  /** Name and port, for messages. */
  get host(): string {
    return this.#host
  }

  /** @throws UserError `http-refused` and what the options' own rule throws */
  readonly #allow = (url: string): void => {
    this.#access.http.allow?.(url)
    const { protocol, hostname, host } = new URL(url)
    if (protocol === 'https:' || this.#access.insecure || isLoopback(hostname)) return
    throw new UserError(
      'registry-protocol',
      `the registry ${this.#host} redirects to http://${host}, but https is required`,
      {
        remedy: 'use https, or allow http with --insecure if the command has that option',
      },
    )
  }

  /** Tells of an exchange that takes long. The time is that of the wall, as in the limits. */
  async #noticed<T>(url: string, exchange: () => Promise<T>): Promise<T> {
    const { http, onWait } = this.#access
    if (!onWait) return exchange()
    const limit = http.limits?.header ?? DEFAULT_HTTP_LIMITS.header
    const after = limit * NOTICED_SHARE
    const done = new AbortController()
    const notice = `waiting for ${this.#named(new URL(url).host)} which has not answered for ${after / 1000} s; it has ${limit / 1000} s`
    const waiting = systemClock()
      .sleep(after, { signal: done.signal })
      .then(
        () => onWait(notice),
        () => {},
      )
    try {
      return await exchange()
    } finally {
      done.abort()
      await waiting
    }
  }

  /** A server of the registry, for a sentence that goes on. */
  #named(host: string): string {
    return host === this.#host ? `the registry ${host},` : `${host}, for the registry ${this.#host},`
  }

  /** Tells of an answer that stops in its middle. */
  #silenceListener(): SilenceListener | undefined {
    const { http, onWait } = this.#access
    if (!onWait) return undefined
    const limit = http.limits?.silence ?? DEFAULT_HTTP_LIMITS.silence
    const after = limit * NOTICED_SHARE
    const times = `which has sent nothing more for ${after / 1000} s; it has ${limit / 1000} s`
    return { after, tell: (url) => onWait(`waiting for ${this.#named(new URL(url).host)} ${times}`) }
  }

  /**
   * Sends a request, with a token where the registry wants one; again where it is busy or failed for a moment.
   *
   * @throws UserError registry-unreachable, registry-protocol, registry-unauthorized, registry-busy
   */
  async request(request: RegistryRequest, signal: AbortSignal): Promise<FileAnswer> {
    const { base, asked } = await this.#ping(signal)
    const url = new URL(request.path, new URL('/v2/', base))
    const isOwn = url.origin === base.origin
    const key = `${request.repository} ${request.actions}`
    if (isOwn && !this.#authorizations.has(key) && asked.length > 0) await this.#authorize(asked, request, signal)
    let renewed = false
    for (;;) {
      const authorization = isOwn ? this.#authorizations.get(key) : undefined
      const answer = await this.#send(url, request, authorization, signal)
      if (answer.status !== 401 || !isOwn) return answer
      const words = await answerWords(answer)
      const wanted = parseChallenges(answer.headers['www-authenticate'] ?? '')
      if (renewed || wanted.length === 0) throw await this.#unauthorized(request, words)
      // A token may have expired, or be for less than this.
      renewed = true
      await this.#authorize(wanted, request, signal)
    }
  }

  async #send(
    url: URL,
    request: RegistryRequest,
    authorization: string | undefined,
    signal: AbortSignal,
  ): Promise<FileAnswer> {
    const { clock } = this.#access.http
    const { path: _, repository: __, actions: ___, headers, ...rest } = request
    const all = { ...headers, ...defined({ authorization }) }
    const isRepeatable = rest.method === undefined || rest.method === 'GET' || rest.method === 'HEAD'
    for (let failed = 0, busy = 0; ;) {
      const answer = await this.#http.get({ ...rest, url: url.href, headers: all, signal }).catch((error: unknown) => {
        if (!(error instanceof FetchFailure)) throw error
        const isLast = failed === REGISTRY_RETRIES.failed || TIMEOUTS.includes(error.code)
        if (!isRepeatable || !error.transient || isLast) throw registryUnreachableError(this.#host, error)
        return undefined
      })
      if (answer?.status === 429) {
        const words = await answerWords(answer)
        const wait = retryAfter(answer.headers['retry-after'], clock.now()) ?? 2 * REGISTRY_RETRY_DELAYS.first
        if (busy++ === REGISTRY_RETRIES.busy || wait > REGISTRY_RETRY_DELAYS.longest)
          throw new UserError('registry-busy', `the registry ${this.#host} answers 429: too many requests${words}`, {
            remedy: `wait ${Math.ceil(wait / 1000)} s, or log in with an account of a higher limit`,
          })
        await clock.sleep(wait, { signal })
        continue
      }
      if (answer && !(isRepeatable && answer.status >= 500 && failed < REGISTRY_RETRIES.failed)) return answer
      await answer?.close()
      await clock.sleep(REGISTRY_RETRY_DELAYS.first * 3 ** failed++, { signal })
    }
  }

  /** How the registry is reached, and what it asks for; found out once. */
  #ping(signal: AbortSignal): Promise<{ base: URL; asked: Challenge[] }> {
    this.#found ??= this.#pinged(signal).catch((error: unknown) => {
      this.#found = undefined
      throw error
    })
    return this.#found
  }

  async #pinged(signal: AbortSignal): Promise<{ base: URL; asked: Challenge[] }> {
    const secure = new URL(`https://${this.#host}`)
    try {
      return await this.#pingAt(secure, signal)
    } catch (error) {
      if (!(error instanceof FetchFailure)) throw error
      // A certificate that is not believed is no reason to do without one.
      const mayBePlain = this.#access.insecure || isLoopback(secure.hostname)
      if (!mayBePlain || error.code.startsWith('tls-')) throw registryUnreachableError(this.#host, error)
      return this.#pingAt(new URL(`http://${this.#host}`), signal).catch((plain: unknown) => {
        if (!(plain instanceof FetchFailure)) throw plain
        throw registryUnreachableError(this.#host, error.code === 'not-tls' ? plain : error)
      })
    }
  }

  async #pingAt(base: URL, signal: AbortSignal): Promise<{ base: URL; asked: Challenge[] }> {
    const answer = await this.#http.get({ url: new URL('/v2/', base).href, signal })
    const { status, headers } = answer
    const words = await answerWords(answer)
    if (status === 401) return { base, asked: parseChallenges(headers['www-authenticate'] ?? '') }
    if (status === 200) return { base, asked: [] }
    // Docker Hub's limit counts no pings, others' may; the request itself waits.
    if (status === 429) return { base, asked: [] }
    throw new UserError('registry-protocol', `${this.#host} is no registry: it answers ${status} to /v2/${words}`, {
      remedy: ERRORS['registry-protocol'].remedy,
    })
  }

  async #authorize(asked: readonly Challenge[], request: RegistryRequest, signal: AbortSignal): Promise<void> {
    const { repository, actions } = request
    const { credentials } = await this.#credentialsFor(repository)
    const bearer = asked.find(({ scheme }) => scheme === 'bearer')
    const key = `${repository} ${actions}`
    if (bearer) {
      const token = await bearerToken(bearer, {
        repository,
        actions,
        credentials,
        host: this.#host,
        http: this.#http,
        signal,
        isSecure: (await this.#ping(signal)).base.protocol === 'https:',
      })
      this.#authorizations.set(key, `Bearer ${token}`)
      return
    }
    if (!asked.some(({ scheme }) => scheme === 'basic'))
      throw new UserError(
        'registry-protocol',
        `the registry ${this.#host} asks for ${asked.map(({ scheme }) => scheme).join(', ')} authentication, which is not known here`,
        { remedy: 'let it ask for Basic or Bearer' },
      )
    if (credentials?.kind !== 'password') throw await this.#unauthorized(request, '')
    const { user: username, password } = credentials
    this.#authorizations.set(key, basicAuthorization({ username, password }))
  }

  /** In auth files Docker Hub is called docker.io. */
  #credentialsFor(repository: string): Promise<FoundCredentials> {
    const name = this.#host === 'registry-1.docker.io' ? 'docker.io' : this.#host
    return this.#access.credentials(`${name}/${repository}`)
  }

  async #unauthorized({ repository, actions }: RegistryRequest, words: string): Promise<UserError> {
    const { credentials, helper } = await this.#credentialsFor(repository)
    const what = actions.includes('push') ? 'to push to' : 'to'
    const by = credentials ? 'with the credentials of the auth file' : 'without credentials'
    const asked = helper
      ? `; ${helper.file} leaves them to the credential helper ${helper.name}, which is not run here`
      : ''
    return new UserError(
      'registry-unauthorized',
      `the registry ${this.#host} refuses access ${what} ${repository} ${by}${asked}${words}`,
      { remedy: `log in with podman login --authfile FILE ${this.#host}, and name the file with --authfile` },
    )
  }
}
