/** All failures of a download, each with its sentence and its remedy. */
const FAILURES = {
  refused: ['connection refused: nothing listens at {at}', 'start the server, or correct its address and port'],
  'unknown-host': ['there is no host named {host}', 'check the name or the DNS'],
  'lookup-failed': ['the name {host} could not be looked up now', 'check that DNS works here'],
  'network-unreachable': ['the network of {at} is unreachable', 'check the route from here to it'],
  'host-unreachable': ['the host {at} is unreachable', 'check the route from here to it'],
  'connect-timeout': [
    'no connection to {at} in time',
    'check that the server runs, and that no firewall drops packets',
  ],
  'connect-failed': ['no connection to {at}', 'check that the server runs'],
  'header-timeout': ['{at} took the connection, but does not answer', 'see what the server waits for'],
  silent: ['{at} fell silent in the middle of the body', 'see what the server waits for'],
  'too-slow': ['{at} sends too slowly', 'check the server and the network between'],
  reset: ['{at} reset the connection', 'see the log of the server'],
  'closed-early': ['{at} closed the connection without an answer', 'see the log of the server'],
  'cut-off': ['{at} closed the connection in the middle of the body', 'see the log of the server'],
  excess: ['{at} sent more bytes than its Content-Length', 'check that the server sends the length of the file'],
  'header-too-large': [
    'the header of the answer of {at} does not end',
    'check that this is the address of a web server',
  ],
  'not-http': ['{at} does not speak HTTP/1', 'correct the port; an https server needs a URL that begins with https'],
  'damaged-header': ['the header of the answer of {at} is damaged', 'check the server, or a proxy in front of it'],
  'damaged-chunk': ['{at} sent a damaged chunked body', 'check the server, or a proxy in front of it'],
  'too-many-interim': ['{at} sends interim answers (1xx) without end', 'check the server, or a proxy in front of it'],
  upgrade: ['{at} switches to another protocol without a request', 'check the server'],
  'not-tls': ['{at} does not speak TLS', 'correct the port, or use a URL that begins with http'],
  'tls-untrusted': [
    'the certificate of {at} is signed by an unknown authority',
    'name its authority (--image-ca where images are fetched, NODE_EXTRA_CA_CERTS elsewhere)',
  ],
  'tls-expired': ['the certificate of {at} is expired or not yet valid', 'renew it, or check the clock of this host'],
  'tls-name': ['the certificate of {at} is for another name', 'use a name that the certificate has'],
  'tls-failed': ['TLS with {at} failed', 'check the certificates and TLS versions of both sides'],
  'proxy-refused': ['the proxy {proxy} does not connect to {at}', 'check the proxy, or leave this host out of it'],
  'proxy-authorization': [
    'the proxy {proxy} connects to {at} only for a user that it knows',
    'give the user in the URL of the proxy: http://USER:PASSWORD@HOST:PORT',
  ],
  'bad-proxy': [
    'the proxy for {at} does not speak HTTP',
    'name one by http://HOST:PORT in http_proxy, https_proxy or all_proxy, or this host in no_proxy',
  ],
  'redirect-loop': ['{at} redirects without end', 'use the URL at which the file really is'],
  'redirect-nowhere': ['{at} redirects to no URL', 'check the server'],
  'redirect-scheme': ['{at} redirects to another scheme than http and https', 'check the server'],
  'bad-url': ['the URL cannot be fetched: only http and https are supported', 'correct the URL'],
  'bad-request': ['the request cannot be sent', 'correct the URL and its headers'],
  'too-large': ['the answer of {at} is larger than the limit', 'check that this is the right URL'],
  status: ['{at} answered with an unexpected HTTP status', 'check the URL'],
  other: ['the connection to {at} failed', 'check that the server runs'],
} as const satisfies Record<string, readonly [sentence: string, remedy: string]>

export type FetchFailureCode = keyof typeof FAILURES

/** Asking again cannot help with these. */
const FINAL: ReadonlySet<FetchFailureCode> = new Set([
  'excess',
  'not-http',
  'not-tls',
  'tls-untrusted',
  'tls-expired',
  'tls-name',
  'bad-proxy',
  'redirect-loop',
  'redirect-nowhere',
  'redirect-scheme',
  'bad-url',
  'bad-request',
  'too-large',
])

/** Where a failure happened. */
export interface FailurePlace {
  /** Without credentials; not for messages, since its query may hold secrets. */
  url: string
  /** Host and port, without credentials. */
  at: string
  host: string
  proxy?: string
}

interface FetchFailureOptions {
  detail?: string | undefined
  cause?: unknown
  transient?: boolean
  saysCause?: boolean
}

/** A server gave no answer, or broke off in the middle of one. Says which server, never its credentials. */
export class FetchFailure extends Error {
  override name = 'FetchFailure'
  readonly code: FetchFailureCode
  readonly remedy: string
  /** URL of the last request, redirects followed; without credentials, but its query may hold secrets. */
  readonly url: string
  /** True if asking again may help. */
  readonly transient: boolean
  /** Code of the operating system or of the HTTP parser. */
  readonly reason: string
  /** True if the message is the cause in words: {@link errorChain} leaves `connect ECONNREFUSED 127.0.0.1:1` out. */
  readonly saysCause: boolean

  constructor(
    code: FetchFailureCode,
    place: FailurePlace,
    { detail, cause, transient, saysCause = false }: FetchFailureOptions = {},
  ) {
    const [sentence, remedy] = FAILURES[code]
    const text = sentence.replace(/\{(\w+)\}/g, (_, name: keyof FailurePlace) => place[name] ?? '')
    super(detail === undefined ? text : `${text} (${detail})`, cause === undefined ? {} : { cause })
    this.code = code
    this.remedy = remedy
    this.url = place.url
    this.transient = transient ?? !FINAL.has(code)
    this.reason = codeOf(cause)
    this.saysCause = saysCause
  }
}

const BY_SYSTEM_CODE: Record<string, FetchFailureCode> = {
  ECONNREFUSED: 'refused',
  ENOTFOUND: 'unknown-host',
  EAI_AGAIN: 'lookup-failed',
  ENETUNREACH: 'network-unreachable',
  EHOSTUNREACH: 'host-unreachable',
  ETIMEDOUT: 'connect-timeout',
  ECONNRESET: 'reset',
  EPIPE: 'reset',
  HPE_HEADER_OVERFLOW: 'header-too-large',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 'damaged-chunk',
  HPE_INVALID_CHUNK_SIZE: 'damaged-chunk',
  HPE_CLOSED_CONNECTION: 'excess',
  HPE_INVALID_CONSTANT: 'not-http',
  HPE_INVALID_VERSION: 'not-http',
  CERT_HAS_EXPIRED: 'tls-expired',
  CERT_NOT_YET_VALID: 'tls-expired',
  ERR_TLS_CERT_ALTNAME_INVALID: 'tls-name',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'tls-untrusted',
  SELF_SIGNED_CERT_IN_CHAIN: 'tls-untrusted',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'tls-untrusted',
  UNABLE_TO_GET_ISSUER_CERT: 'tls-untrusted',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'tls-untrusted',
  ERR_SSL_WRONG_VERSION_NUMBER: 'not-tls',
  ERR_SSL_PACKET_LENGTH_TOO_LONG: 'not-tls',
  ERR_INVALID_CHAR: 'bad-request',
  ERR_UNESCAPED_CHARACTERS: 'bad-request',
  ERR_INVALID_HTTP_TOKEN: 'bad-request',
}

export const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''

/** At what point of an exchange an error came. */
export type ExchangePhase = 'connecting' | 'tls' | 'header' | 'body'

/** An error of Node's sockets, TLS or HTTP parser, as a {@link FetchFailure}. */
export function toFetchFailure(error: unknown, phase: ExchangePhase, place: FailurePlace): FetchFailure {
  if (error instanceof FetchFailure) return error
  // Both address families failed.
  if (error instanceof AggregateError && error.errors.length > 0)
    return toFetchFailure(error.errors.find((each) => codeOf(each) !== 'ENETUNREACH') ?? error.errors[0], phase, place)
  const system = codeOf(error)
  const code = codeFor(system, phase)
  const own = Object.hasOwn(BY_SYSTEM_CODE, system) && !system.startsWith('HPE_') && code !== 'bad-request'
  // The library's own words where the table has none: those of TLS name what is wrong with a certificate.
  const words = error instanceof Error ? describeParserError(error) : String(error)
  const known = own && !code.startsWith('tls-')
  return new FetchFailure(code, place, {
    cause: error,
    detail: known || words === '' ? undefined : words,
    saysCause: known,
  })
}

function codeFor(system: string, phase: ExchangePhase): FetchFailureCode {
  const known = Object.hasOwn(BY_SYSTEM_CODE, system) ? BY_SYSTEM_CODE[system]! : undefined
  if (known === 'reset' && phase === 'tls') return 'tls-failed'
  if (known === 'not-http' && phase === 'body') return 'damaged-chunk'
  if (known !== undefined) return known
  if (system.startsWith('HPE_')) return phase === 'body' ? 'damaged-chunk' : 'damaged-header'
  if (phase === 'tls') return 'tls-failed'
  return phase === 'connecting' ? 'connect-failed' : 'other'
}

/** The parser puts what it has against a header behind its general words. */
const describeParserError = (error: Error): string => {
  const { message, reason } = error as Error & { reason?: unknown }
  return codeOf(error).startsWith('HPE_') && typeof reason === 'string' ? reason : message.split('\n')[0]!
}
