import {
  type ByteStream,
  FetchFailure,
  type FileAnswer,
  HttpClient,
  type HttpThrough,
  type ProxySettings,
} from '../../../../base/bytes/index.js'
import { defined, withClockHeld, type Clock } from '../../../../base/runtime/index.js'
import { duringInstall, Failure } from '../installer-error.js'

/** Parameters of a fetch besides its URL. */
export interface Fetching {
  clock: Clock
  signal: AbortSignal
  /** Proxies of the installer's environment. */
  proxies?: ProxySettings | undefined
  /** Sees each request. */
  downloads?: HttpThrough | undefined
  /** Retries of a failed request. A body that breaks off is not retried. */
  retries: number
  print: (line: string) => void
}

const RETRIED = new Set([408, 429, 500, 502, 503, 504])
const MAX_HTTP_RETRY_DELAY = 600

/** Opens a URL as a source of bytes. */
export async function openUrl(url: string, fetching: Fetching): Promise<ByteStream> {
  const { clock, signal, retries, print } = fetching
  return duringInstall(`fetching '${url}'`, async () => {
    for (let attempt = 0, pause = 1; ; attempt++, pause = Math.min(MAX_HTTP_RETRY_DELAY, pause * 2)) {
      const outcome = await tryOnce(url, fetching)
      if ('source' in outcome) return outcome.source
      if (!outcome.transient || attempt >= retries) throw outcome.failure
      print(`Error fetching '${url}': ${outcome.short}`)
      print(`Sleeping ${pause}s and retrying...`)
      await clock.sleep(pause * 1000, { signal })
    }
  })
}

/** Limit on a config, signature or stream metadata, which are held in memory. */
const MAX_HELD_FILE_BYTES = 64 * 2 ** 20

/** Fetches a whole body. */
export async function fetchAll(url: string, fetching: Fetching): Promise<Uint8Array> {
  const source = await openUrl(url, fetching)
  try {
    const parts: Uint8Array[] = []
    let size = 0
    return await duringInstall(`couldn't copy '${url}'`, async () => {
      for (let part = await source.next(); part; part = await source.next()) {
        parts.push(part)
        if ((size += part.length) > MAX_HELD_FILE_BYTES) throw new Failure(`more than ${MAX_HELD_FILE_BYTES} bytes`)
      }
      return Buffer.concat(parts)
    })
  } finally {
    await source[Symbol.asyncDispose]()
  }
}

type FetchOutcome = { source: ByteStream } | { failure: Failure; short: string; transient: boolean }

async function tryOnce(url: string, { clock, signal, proxies, downloads }: Fetching): Promise<FetchOutcome> {
  let answer: FileAnswer
  try {
    const client = new HttpClient({ clock, ...defined({ proxies, through: downloads }) })
    answer = await client.get({ url, signal })
  } catch (error) {
    if (!(error instanceof FetchFailure)) throw error
    const { sentence, cause } = requestFailure(error)
    return { failure: new Failure(sentence, cause), short: sentence, transient: true }
  }
  const { status, statusText } = answer
  if (status < 400) return { source: bodySource(answer, url, clock) }
  await answer.close()
  // The real installer prints the server's reason phrase.
  const text = `${status} ${statusText}`
  if (RETRIED.has(status)) return { failure: new Failure(`HTTP ${text}`), short: `HTTP ${text}`, transient: true }
  const sentence = `HTTP status ${status < 500 ? 'client' : 'server'} error (${text}) for url (${answer.url})`
  return { failure: new Failure(sentence), short: sentence, transient: false }
}

function bodySource({ length, body, close }: FileAnswer, url: string, clock: Clock): ByteStream {
  return {
    // A length of 0 counts as none (seen).
    length: length || undefined,
    next: async () => {
      try {
        return await body.next()
      } catch (error) {
        if (!(error instanceof FetchFailure)) throw error
        // coreos-installer ignores bytes after the announced length (seen).
        if (error.code === 'excess') return undefined
        throw brokenOff(error, length === null)
      }
    },
    [Symbol.asyncDispose]: () => withClockHeld(clock, `closing ${url}`, close),
  }
}

/** The failure of a connection that ended within a body. */
function brokenOff(failure: FetchFailure, chunked: boolean): Failure {
  return new Failure(
    'request or response body error',
    failure.code === 'silent' || failure.code === 'too-slow'
      ? new Failure('operation timed out')
      : new Failure('error reading a body from connection', new Failure(bodyReason(failure, chunked))),
  )
}

function bodyReason({ code, reason, message }: FetchFailure, chunked: boolean): string {
  if (code === 'reset') return 'Connection reset by peer (os error 104)'
  if (code === 'cut-off' || reason === 'ECONNRESET')
    return chunked ? 'unexpected EOF during chunk size line' : 'end of file before message length reached'
  return code === 'damaged-chunk' ? 'Invalid chunk size line' : message
}

/** The messages of coreos-installer's HTTP library (recorded). */
function requestFailure(failure: FetchFailure): { sentence: string; cause: Failure } {
  const { code, url } = failure
  switch (code) {
    case 'bad-url':
    case 'redirect-scheme':
      return { sentence: `builder error for url (${url})`, cause: new Failure('URL scheme is not allowed') }
    case 'redirect-loop':
      return { sentence: `error following redirect for url (${url})`, cause: new Failure('too many redirects') }
    default:
      return { sentence: `error sending request for url (${url})`, cause: transportFailure(failure) }
  }
}

function transportFailure({ code, message }: FetchFailure): Failure {
  const connecting = (what: string, errno: string) =>
    new Failure('client error (Connect)', new Failure(what, new Failure(errno)))
  const sending = (...causes: [string, ...string[]]) =>
    new Failure(
      'client error (SendRequest)',
      causes.reduceRight<Failure | undefined>((cause, text) => new Failure(text, cause), undefined),
    )
  switch (code) {
    case 'unknown-host':
    case 'lookup-failed': {
      const why = code === 'unknown-host' ? 'Name or service not known' : 'Temporary failure in name resolution'
      return connecting('dns error', `failed to lookup address information: ${why}`)
    }
    case 'proxy-refused':
      return new Failure('client error (Connect)', new Failure('tunnel error: unsuccessful'))
    case 'proxy-authorization':
      return new Failure('client error (Connect)', new Failure('tunnel error: proxy authorization required'))
    case 'refused':
      return connecting('tcp connect error', 'Connection refused (os error 111)')
    case 'host-unreachable':
      return connecting('tcp connect error', 'No route to host (os error 113)')
    case 'network-unreachable':
      return connecting('tcp connect error', 'Network is unreachable (os error 101)')
    case 'connect-timeout':
      return connecting('tcp connect error', 'Connection timed out (os error 110)')
    case 'header-timeout':
      return new Failure('operation timed out')
    case 'reset':
      return sending('connection error', 'Connection reset by peer (os error 104)')
    case 'closed-early':
      return sending('connection closed before message completed')
    case 'header-too-large':
      return sending('message head is too large')
    case 'not-http':
    case 'damaged-header':
      return sending('invalid HTTP version parsed')
    default:
      return new Failure('client error (Connect)', new Failure(message))
  }
}
