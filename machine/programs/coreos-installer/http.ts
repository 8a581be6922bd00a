import { STATUS_CODES } from 'node:http'
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
const REDIRECTS = 10

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
    for (let part = await source.next(); part; part = await source.next()) parts.push(part)
    return Buffer.concat(parts)
  } finally {
    await source[Symbol.asyncDispose]()
  }
}

type Outcome = { source: ByteSource } | { failure: Failure; short: string; transient: boolean }

async function tryOnce(url: string, { clock, signal }: Fetching): Promise<Outcome> {
  // Loaded when first needed: most processes never fetch anything, and it takes longer to load than all of ours.
  const { Agent, interceptors, request } = await import('undici')
  // An agent of its own: closing it with the body leaves no idle socket behind.
  const agent = new Agent({ bodyTimeout: 0 })
  let response
  try {
    const dispatcher = agent.compose(interceptors.redirect({ maxRedirections: REDIRECTS }))
    response = await request(url, { dispatcher, signal, headers: { accept: '*/*' } })
  } catch (error) {
    await agent.destroy()
    if (signal.aborted) throw signal.reason
    const sentence = `error sending request for url (${url})`
    return { failure: new Failure(sentence, transportFailure(error)), short: sentence, transient: true }
  }
  const { statusCode: status, headers, body } = response
  if (status >= 400) {
    await agent.destroy()
    const text = `${status} ${STATUS_CODES[status] ?? '<unknown status code>'}`
    return {
      failure: new Failure(`HTTP status ${status < 500 ? 'client' : 'server'} error (${text}) for url (${url})`),
      short: `HTTP ${text}`,
      transient: RETRIED.has(status),
    }
  }
  const length = headers['content-length']
  const parts = body[Symbol.asyncIterator]() as AsyncIterator<Uint8Array, undefined>
  let ended = false
  return {
    source: {
      length: typeof length === 'string' ? Number(length) : undefined,
      next: () =>
        held(clock, `reading from ${url}`, async () => {
          if (ended) return undefined
          try {
            const part = await parts.next()
            ended = part.done === true
            return part.value
          } catch {
            if (signal.aborted) throw signal.reason
            throw brokenOff()
          }
        }),
      [Symbol.asyncDispose]: () => held(clock, `closing ${url}`, () => agent.destroy()),
    },
  }
}

/** As recorded for a connection that ended in the middle of a body. */
const brokenOff = (): Failure =>
  new Failure(
    'request or response body error',
    new Failure('error reading a body from connection', new Failure('end of file before message length reached')),
  )

function transportFailure(error: unknown): Failure {
  const code = error instanceof Error && 'code' in error ? String(error.code) : undefined
  const reason =
    {
      ECONNREFUSED: 'Connection refused (os error 111)',
      ENOTFOUND: 'failed to lookup address information: Name or service not known',
      EAI_AGAIN: 'failed to lookup address information: Temporary failure in name resolution',
      ECONNRESET: 'Connection reset by peer (os error 104)',
    }[code ?? ''] ?? (error instanceof Error ? error.message : String(error))
  return new Failure('client error (Connect)', new Failure(reason))
}
