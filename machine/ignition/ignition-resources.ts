import { X509Certificate } from 'node:crypto'
import { gunzipSync } from 'node:zlib'
import { maskedUrl, withoutPasswords, type HttpThrough } from '../../base/bytes/index.js'
import { countText, minutes, type Clock, type Probe } from '../../base/runtime/index.js'
import {
  dataUrlBytes,
  hashMismatch,
  IGNITION_TYPE,
  MAX_RESOURCE_BYTES,
  NEWEST_STABLE,
  type SpecConfig,
  type SpecResource,
  type SpecVersion,
} from '../../ignition/index.js'
import {
  DEFAULT_HTTP,
  httpRequest,
  NoAnswer,
  statusText,
  type HttpAnswer,
  type HttpRequest,
  type HttpSettings,
} from './http-request.js'
import { goQuoted, IgnitionFailure, type IgnitionLog } from './ignition-log.js'

/** Probe point of a request of a machine's Ignition. An interceptor may return the {@link HttpAnswer} itself. */
export interface IgnitionRequest extends HttpRequest {
  readonly kind: 'ignition-request'
  readonly machine: string
  readonly attempt: number
}

export interface ResourcesParts {
  machine: string
  clock: Clock
  probe: Probe
  /** Sees each request. */
  downloads?: HttpThrough | undefined
  signal: AbortSignal
  log: IgnitionLog
  /** The newest version of the spec that this Ignition reads. Default: that of the simulated one. */
  newest?: SpecVersion
  /** Limits of the HTTP client. */
  limits?: HttpSettings['limits']
}

const MIN_FETCH_RETRY_DELAY = 200
const MAX_FETCH_RETRY_DELAY = 5000
/** Time after which retries of a failing fetch no longer make a virtual clock jump. */
const EVENTFUL_FETCH_TIMEOUT = minutes(5)

export const NEEDS_NETWORK = 'resource requires networking'

/**
 * Fetches the resources of a config as Ignition does: `data`, `http` and `https`, decompressed and then verified by hash.
 * A 5xx answer or none is retried, with pauses that double from 0.2 to 5 seconds, until the config's total timeout, or
 * for ever.
 */
export class Resources {
  readonly #parts: ResourcesParts
  readonly #authorities = new Map<string, string>()
  #settings: HttpSettings = DEFAULT_HTTP
  readonly newest: SpecVersion

  constructor(parts: ResourcesParts) {
    this.#parts = parts
    this.newest = parts.newest ?? NEWEST_STABLE
    if (parts.limits) this.#settings = { ...DEFAULT_HTTP, limits: parts.limits }
  }

  /**
   * Applies the config's timeouts, proxies and certificates to later fetches.
   *
   * @throws IgnitionFailure for a certificate that cannot be fetched or read
   */
  async configure({ timeouts = {}, proxy = {}, security }: NonNullable<SpecConfig['ignition']> = {}): Promise<void> {
    const { httpResponseHeaders = 10, httpTotal = 0 } = timeouts
    const times = { responseHeaders: httpResponseHeaders * 1000, total: httpTotal * 1000 }
    this.#settings = { ...this.#settings, ...times, proxy }
    const authorities: string[] = []
    for (const resource of security?.tls?.certificateAuthorities ?? [])
      authorities.push(await this.#authority(resource))
    if (authorities.length > 0) this.#settings = { ...this.#settings, authorities }
  }

  /** Waits for something that does not come, until the machine loses power. */
  never(): Promise<never> {
    const { signal } = this.#parts
    return new Promise((_, reject) => {
      const lost = (): void => reject(signal.reason as Error)
      if (signal.aborted) lost()
      else signal.addEventListener('abort', lost, { once: true })
    })
  }

  /** Resets the settings, with a total timeout, for a fetch before any config. */
  limit(total: number): void {
    this.#settings = { ...DEFAULT_HTTP, total }
  }

  /** @throws IgnitionFailure with Ignition's message */
  async bytes(resource: SpecResource): Promise<Uint8Array> {
    const { source = '', compression } = resource
    if (source === '') return verified(new Uint8Array(), resource, this.#parts.log)
    const fetched = await this.#fetch(source, resource)
    return verified(compression === 'gzip' ? gunzipFetched(fetched) : fetched, resource, this.#parts.log)
  }

  /** The bytes as they are fetched, neither decompressed nor verified. */
  raw(resource: SpecResource): Promise<Uint8Array> {
    return this.#fetch(resource.source ?? '', resource)
  }

  async #fetch(source: string, { httpHeaders = [] }: SpecResource): Promise<Uint8Array> {
    const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(source)?.[1]?.toLowerCase()
    if (scheme === 'data') {
      const bytes = dataUrlBytes(source)
      if (!bytes) throw new IgnitionFailure('invalid dataurl')
      return bytes
    }
    if (scheme !== 'http' && scheme !== 'https') throw new IgnitionFailure('unsupported source scheme')
    const headers: Record<string, string> = {
      'user-agent': 'Ignition/2.26.0',
      accept: `${IGNITION_TYPE};version=${this.newest}, */*;q=0.1`,
      'accept-encoding': 'identity',
    }
    for (const { name = '', value } of httpHeaders) if (value) headers[name.toLowerCase()] = value
    const { status, body } = await this.#request({ url: source, headers })
    if (status === 200 || status === 204) return body
    const sentence = status === 404 ? 'resource not found' : 'failed to fetch resource'
    throw new IgnitionFailure(
      sentence,
      `${sentence}: fetching ${maskedUrl(source)} failed: the server answered ${status}`,
    )
  }

  async #request(request: HttpRequest): Promise<HttpAnswer> {
    const { clock, log, signal } = this.#parts
    const { total } = this.#settings
    const shown = withoutPasswords(request.url)
    const begun = clock.now()
    for (
      let attempt = 1, pause = MIN_FETCH_RETRY_DELAY;
      ;
      attempt++, pause = Math.min(pause * 2, MAX_FETCH_RETRY_DELAY)
    ) {
      log.line('info', `GET ${shown}: attempt #${attempt}`)
      const answer = await this.#attempt(request, attempt)
      if (typeof answer === 'string') log.line('info', `GET error: Get ${goQuoted(shown)}: ${answer}`)
      else {
        log.line('info', `GET result: ${statusText(answer.status)}`)
        if (answer.status < 500) return answer
      }
      const left = total === 0 ? Infinity : begun + total - clock.now()
      const weak = clock.now() - begun > EVENTFUL_FETCH_TIMEOUT
      await clock.sleep(Math.max(0, Math.min(pause, left)), { signal, weak })
      if (pause >= left) {
        const came = typeof answer === 'string' ? answer : statusText(answer.status)
        const sentence = 'unable to fetch resource in time'
        const tries = `${maskedUrl(request.url)}, ${countText(attempt, 'attempt')}; the last answer: ${came}`
        throw new IgnitionFailure(sentence, `${sentence} (${tries})`)
      }
    }
  }

  async #attempt(request: HttpRequest, attempt: number): Promise<HttpAnswer | string> {
    const { machine, clock, probe, downloads, signal } = this.#parts
    const point: IgnitionRequest = { kind: 'ignition-request', machine, attempt, ...request }
    try {
      return await probe.around(point, () =>
        httpRequest(request, this.#settings, { clock, downloads, signal, most: MAX_RESOURCE_BYTES }),
      )
    } catch (error) {
      signal.throwIfAborted()
      if (error instanceof NoAnswer) return error.message
      throw error
    }
  }

  async #authority(resource: SpecResource): Promise<string> {
    const { log } = this.#parts
    const { source = '' } = resource
    const known = this.#authorities.get(source)
    if (known !== undefined) return known
    let text: string
    try {
      text = Buffer.from(await this.bytes(resource)).toString()
    } catch (error) {
      if (error instanceof IgnitionFailure)
        log.line('err', `Unable to fetch CA (${maskedUrl(source)}): ${error.message}`)
      throw error
    }
    const blocks = text.match(/-----BEGIN [^-]+-----[^-]*-----END [^-]+-----/g)
    if (!blocks) throw new IgnitionFailure('unable to decode PEM block')
    for (const block of blocks) log.line('info', `Adding ${goQuoted(commonName(block))} to list of CAs`)
    this.#authorities.set(source, text)
    return text
  }
}

function commonName(pem: string): string {
  try {
    return /^CN=(.*)$/m.exec(new X509Certificate(pem).subject)?.[1] ?? ''
  } catch {
    throw new IgnitionFailure('x509: malformed certificate')
  }
}

function gunzipFetched(bytes: Uint8Array): Uint8Array {
  try {
    return gunzipSync(bytes, { maxOutputLength: MAX_RESOURCE_BYTES })
  } catch (error) {
    if (error instanceof RangeError) throw new IgnitionFailure(`more than ${MAX_RESOURCE_BYTES} bytes`)
    const cut = bytes.length < 10 || (error as NodeJS.ErrnoException).code === 'Z_BUF_ERROR'
    throw new IgnitionFailure(bytes.length === 0 ? 'EOF' : cut ? 'unexpected EOF' : 'gzip: invalid header')
  }
}

function verified(bytes: Uint8Array, resource: SpecResource, log: IgnitionLog): Uint8Array {
  const hash = resource.verification?.hash
  if (hash === undefined) return bytes
  const found = hashMismatch(bytes, resource)
  if (found) throw new IgnitionFailure(found)
  log.line('debug', `file matches expected sum of: ${hash.slice(hash.indexOf('-') + 1).toLowerCase()}`)
  return bytes
}
