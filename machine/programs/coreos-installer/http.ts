import type { Agent, Dispatcher } from 'undici'
import { held, type Clock } from '../../../runtime/index.js'
import type { ByteSource } from '../../disk/byte-source.js'
import { during, Failure } from './failure.js'

/** What a fetch needs besides its URL. */
export interface Fetching {
  clock: Clock
  signal: AbortSignal
  /** How often a failed request is repeated. Only the request: a body that breaks off is a failure at once. */
  retries: number
  print: (line: string) => void
}

const RETRIED = new Set([408, 429, 500, 502, 503, 504])
const LONGEST_PAUSE = 600
const REDIRECTED = new Set([301, 302, 303, 307, 308])
const MOST_REDIRECTS = 10

/** Opens a URL as a source of bytes. */
export async function openUrl(url: string, fetching: Fetching): Promise<ByteSource> {
  const { clock, signal, retries, print } = fetching
  return during(`fetching '${url}'`, async () => {
    for (let attempt = 0, pause = 1; ; attempt++, pause = Math.min(LONGEST_PAUSE, pause * 2)) {
      const outcome = await held(clock, `fetching ${url}`, () => tryOnce(url, fetching))
      if ('source' in outcome) return outcome.source
      if (!outcome.transient || attempt >= retries) throw outcome.failure
      print(`Error fetching '${url}': ${outcome.short}`)
      print(`Sleeping ${pause}s and retrying...`)
      await clock.sleep(pause * 1000, { signal })
    }
  })
}

/** The whole body. */
export async function fetchAll(url: string, fetching: Fetching): Promise<Uint8Array> {
  const source = await openUrl(url, fetching)
  try {
    const parts: Uint8Array[] = []
    return await during(`couldn't copy '${url}'`, async () => {
      for (let part = await source.next(); part; part = await source.next()) parts.push(part)
      return Buffer.concat(parts)
    })
  } finally {
    await source[Symbol.asyncDispose]()
  }
}

type Outcome = { source: ByteSource } | { failure: Failure; short: string; transient: boolean }

async function tryOnce(url: string, { clock, signal }: Fetching): Promise<Outcome> {
  // Loaded when first needed: most processes never fetch anything, and it takes longer to load than all of ours.
  const { Agent, request } = await import('undici')
  // An agent of its own: closing it with the body leaves no idle socket behind.
  const agent = new Agent({ bodyTimeout: 0 })
  const failed = (sentence: string, cause: Failure): Outcome => ({
    ...{ failure: new Failure(sentence, cause), short: sentence, transient: true },
  })
  let at = url
  try {
    for (let redirects = 0; ; redirects++) {
      if (!/^https?:/.test(at)) {
        await agent.destroy()
        return failed(`builder error for url (${at})`, new Failure('URL scheme is not allowed'))
      }
      const response = await request(at, { dispatcher: agent, signal, headers: { accept: '*/*' } })
      const { statusCode: status, statusText, headers, body } = response
      const { location } = headers
      if (REDIRECTED.has(status) && typeof location === 'string') {
        await body.dump()
        if (redirects === MOST_REDIRECTS) {
          await agent.destroy()
          return failed(`error following redirect for url (${at})`, new Failure('too many redirects'))
        }
        at = new URL(location, at).href
        continue
      }
      if (status < 400) return { source: bodySource(url, response, agent, { clock, signal }) }
      await agent.destroy()
      // The server's own words, not the usual ones.
      const text = `${status} ${statusText}`
      if (RETRIED.has(status)) return { failure: new Failure(`HTTP ${text}`), short: `HTTP ${text}`, transient: true }
      const sentence = `HTTP status ${status < 500 ? 'client' : 'server'} error (${text}) for url (${at})`
      return { failure: new Failure(sentence), short: sentence, transient: false }
    }
  } catch (error) {
    await agent.destroy()
    if (signal.aborted) throw signal.reason
    return failed(`error sending request for url (${at})`, transportFailure(error))
  }
}

function bodySource(
  url: string,
  { headers, body }: Dispatcher.ResponseData,
  agent: Agent,
  { clock, signal }: Pick<Fetching, 'clock' | 'signal'>,
): ByteSource {
  const announced = headers['content-length']
  const parts = body[Symbol.asyncIterator]() as AsyncIterator<Uint8Array, undefined>
  let ended = false
  return {
    // A length of 0 counts as none (seen).
    length: typeof announced === 'string' ? Number(announced) || undefined : undefined,
    next: () =>
      held(clock, `reading from ${url}`, async () => {
        if (ended) return undefined
        try {
          const part = await parts.next()
          ended = part.done === true
          return part.value
        } catch (error) {
          if (signal.aborted) throw signal.reason
          throw brokenOff(error, announced === undefined)
        }
      }),
    [Symbol.asyncDispose]: () => held(clock, `closing ${url}`, () => agent.destroy()),
  }
}

/** For a connection that ended in the middle of a body. */
function brokenOff(error: unknown, chunked: boolean): Failure {
  const why =
    codeOf(error) === 'ECONNRESET'
      ? 'Connection reset by peer (os error 104)'
      : chunked
        ? 'unexpected EOF during chunk size line'
        : 'end of file before message length reached'
  return new Failure(
    'request or response body error',
    new Failure('error reading a body from connection', new Failure(why)),
  )
}

const codeOf = (error: unknown): string => (error instanceof Error && 'code' in error ? String(error.code) : '')

/** As the HTTP library of coreos-installer tells it (recorded). */
function transportFailure(error: unknown): Failure {
  const code = codeOf(error)
  const connecting = (what: string, errno: string) =>
    new Failure('client error (Connect)', new Failure(what, new Failure(errno)))
  switch (code) {
    case 'ENOTFOUND':
    case 'EAI_AGAIN': {
      const why = code === 'ENOTFOUND' ? 'Name or service not known' : 'Temporary failure in name resolution'
      return connecting('dns error', `failed to lookup address information: ${why}`)
    }
    case 'ECONNREFUSED':
      return connecting('tcp connect error', 'Connection refused (os error 111)')
    case 'EHOSTUNREACH':
      return connecting('tcp connect error', 'No route to host (os error 113)')
    case 'ENETUNREACH':
      return connecting('tcp connect error', 'Network is unreachable (os error 101)')
    case 'ETIMEDOUT':
      return connecting('tcp connect error', 'Connection timed out (os error 110)')
    case 'ECONNRESET':
      return new Failure(
        'client error (SendRequest)',
        new Failure('connection error', new Failure('Connection reset by peer (os error 104)')),
      )
    case 'UND_ERR_SOCKET':
      return new Failure('client error (SendRequest)', new Failure('connection closed before message completed'))
    default:
      return new Failure('client error (Connect)', new Failure(error instanceof Error ? error.message : String(error)))
  }
}
