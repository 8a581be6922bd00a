import { FetchFailure, type FileAnswer, type FetchFailureCode } from '../../../base/bytes/index.js'
import { isObject } from '../../../base/runtime/index.js'

/** podman's exit code for failures of its own instead of the container's (podman-run(1)). */
export const PODMAN_FAILED = 125

/** A failure in the words of podman 5 and of containers/image, which it pulls with. */
export class PodmanFailure extends Error {
  override name = 'PodmanFailure'

  constructor(
    message: string,
    /** True if `podman pull` tries again (containers/common, retry.IsErrorRetryable). */
    readonly isRetryable = false,
  ) {
    super(message)
  }

  /** The same failure, with what was being done in front. */
  during(doing: string): PodmanFailure {
    return new PodmanFailure(`${doing}: ${this.message}`, this.isRetryable)
  }
}

/** Says what was being done in front of a {@link PodmanFailure}. */
export async function duringPull<T>(doing: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw error instanceof PodmanFailure ? error.during(doing) : error
  }
}

/** Words of Go's net/http, and whether podman tries again. */
const GO_FAILURES: Partial<Record<FetchFailureCode, readonly [words: string, isRetryable: boolean]>> = {
  refused: ['dial tcp {at}: connect: connection refused', true],
  'unknown-host': ['dial tcp: lookup {host}: no such host', false],
  'lookup-failed': ['dial tcp: lookup {host}: Temporary failure in name resolution', false],
  'network-unreachable': ['dial tcp {at}: connect: network is unreachable', true],
  'host-unreachable': ['dial tcp {at}: connect: no route to host', true],
  'connect-timeout': ['dial tcp {at}: i/o timeout', true],
  'header-timeout': ['net/http: timeout awaiting response headers', true],
  silent: ['read tcp {at}: i/o timeout', true],
  reset: ['read tcp {at}: read: connection reset by peer', true],
  'closed-early': ['EOF', true],
  'cut-off': ['unexpected EOF', false],
  'not-tls': ['http: server gave HTTP response to HTTPS client', false],
  'tls-untrusted': ['tls: failed to verify certificate: x509: certificate signed by unknown authority', false],
  'tls-expired': ['tls: failed to verify certificate: x509: certificate has expired or is not yet valid', false],
  'tls-name': ['tls: failed to verify certificate: x509: certificate is not valid for {host}', false],
}

/** A request that got no whole answer. */
export function transportFailure({ code, message }: FetchFailure, url: string): PodmanFailure {
  const [words, isRetryable] = GO_FAILURES[code] ?? [message, false]
  const { host, hostname } = new URL(url)
  return new PodmanFailure(words.replace('{at}', host).replace('{host}', hostname), isRetryable)
}

/** Codes of the distribution API, with the messages that go without them (docker/distribution, registry/api). */
const DEFAULT_MESSAGES: Readonly<Record<string, string>> = {
  BLOB_UNKNOWN: 'blob unknown to registry',
  DENIED: 'requested access to the resource is denied',
  MANIFEST_UNKNOWN: 'manifest unknown',
  NAME_UNKNOWN: 'repository name not known to registry',
  TOOMANYREQUESTS: 'too many requests',
  UNAUTHORIZED: 'authentication required',
  UNAVAILABLE: 'service unavailable',
  UNSUPPORTED: 'The operation is unsupported.',
}
const FINAL_CODES = ['UNAUTHORIZED', 'DENIED', 'NAME_UNKNOWN', 'MANIFEST_UNKNOWN']

/** More of a refusal is not read. */
const MAX_REFUSAL_BYTES = 64 * 1024
/** Bytes of a body without JSON that are shown. */
const SHOWN_BODY_BYTES = 50

/** A registry's refusal (containers/image, docker/errors.go registryHTTPResponseToError). The answer is used up. */
export async function refusal(answer: FileAnswer): Promise<PodmanFailure> {
  const { status } = answer
  const body = await answer.bytes(MAX_REFUSAL_BYTES).catch((error: unknown) => {
    if (error instanceof FetchFailure) return Buffer.alloc(0)
    throw error
  })
  await answer.close()
  if (status < 400 || status >= 500) return unexpectedStatusFailure(answer)
  const [code, message] = firstError(body)
  if (code === undefined) {
    const shown = body.length > SHOWN_BODY_BYTES ? `${body.toString('utf8', 0, SHOWN_BODY_BYTES)}...` : body.toString()
    return new PodmanFailure(`StatusCode: ${status}, ${JSON.stringify(shown)}`)
  }
  const words = message === '' ? (DEFAULT_MESSAGES[code] ?? 'unknown error') : message
  const isDefault = DEFAULT_MESSAGES[code]?.toLowerCase() === words.toLowerCase()
  const named = isDefault ? words : `${code.toLowerCase().replaceAll('_', ' ')}: ${words}`
  return new PodmanFailure(named, !FINAL_CODES.includes(code))
}

export const unexpectedStatusFailure = ({ status, statusText }: FileAnswer): PodmanFailure =>
  new PodmanFailure(`received unexpected HTTP status: ${status} ${statusText}`, status >= 502 && status <= 504)

function firstError(body: Buffer): [code: string | undefined, message: string] {
  try {
    const value: unknown = JSON.parse(body.toString())
    const errors: unknown = isObject(value) ? value['errors'] : undefined
    const first: unknown = Array.isArray(errors) ? errors[0] : undefined
    if (!isObject(first) || typeof first['code'] !== 'string') return [undefined, '']
    return [first['code'], typeof first['message'] === 'string' ? first['message'] : '']
  } catch {
    return [undefined, '']
  }
}
