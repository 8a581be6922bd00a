import { connect } from 'node:tls'
import { DEFAULT_HTTP_LIMITS, requestOnce, readUpTo } from '../../../base/bytes/index.js'
import { seconds, withinLimit, type Clock } from '../../../base/runtime/index.js'
import { bmcAgent } from './pinned-agent.js'
import { textIn } from '../../../lab/index.js'

/** Outcome of asking a URL for the root of a Redfish service. */
export type ProbeOutcome =
  /** `certificate` is its fingerprint; null for plain HTTP. */
  | { readonly isRedfish: true; readonly certificate: string | null }
  /** `why` is a phrase: `refused`, `no answer`. */
  | { readonly isRedfish: false; readonly why: string }

interface ProbeOptions {
  readonly clock: Clock
  readonly signal: AbortSignal
}

const PROBE_TIMEOUT = seconds(4)

/** Reason of a probe that has taken too long. */
const TOO_LATE = new Error('no answer')

/** Asks a URL for a Redfish service, within four seconds. The root of a service needs no account. */
export async function probeRedfish(url: string, { clock, signal }: ProbeOptions): Promise<ProbeOutcome> {
  try {
    return await withinLimit({ ms: PROBE_TIMEOUT, clock, weak: true, signal, late: () => TOO_LATE }, (either) =>
      askRoot(new URL('/redfish/v1/', url), { clock, signal: either }),
    )
  } catch (error) {
    signal.throwIfAborted()
    return failed(describeProbeError(error))
  }
}

const failed = (why: string): ProbeOutcome => ({ isRedfish: false, why })

/** Phrases for errors of connections, by their code. */
const CONNECTION_ERRORS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'refused',
  EHOSTUNREACH: 'unreachable',
  ENETUNREACH: 'unreachable',
  ETIMEDOUT: 'no answer',
  ECONNRESET: 'connection reset',
}

function describeProbeError(error: unknown): string {
  for (let e = error; e instanceof Error; e = e.cause) {
    if (e === TOO_LATE) return TOO_LATE.message
    const { code } = e as NodeJS.ErrnoException
    const known = code === undefined ? undefined : CONNECTION_ERRORS[code]
    if (known !== undefined) return known
    if (code?.startsWith('ERR_SSL') === true) return 'no TLS'
  }
  return 'no Redfish service'
}

async function askRoot(root: URL, { clock, signal }: ProbeOptions): Promise<ProbeOutcome> {
  const certificate = root.protocol === 'https:' ? await fingerprintAt(root, signal) : null
  const agent = bmcAgent(root, { certificate: certificate ?? undefined })
  try {
    const answer = await requestOnce({
      url: root,
      method: 'GET',
      headers: { accept: 'application/json' },
      agent,
      tls: {},
      clock,
      signal,
      limits: DEFAULT_HTTP_LIMITS,
    })
    const bytes = await readUpTo(2 ** 20, answer.body)
    const document: unknown = JSON.parse(bytes?.toString('utf8') ?? '')
    if (answer.status === 200 && textIn(document, 'RedfishVersion') !== undefined)
      return { isRedfish: true, certificate }
    return failed('no Redfish service')
  } finally {
    agent.destroy()
  }
}

/** The fingerprint of a server's certificate, trusted or not. Rejects if the server speaks no TLS. */
function fingerprintAt({ hostname: host, port }: URL, signal: AbortSignal): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port: Number(port) || 443, rejectUnauthorized: false })
    const end = (settle: () => void) => {
      signal.removeEventListener('abort', stop)
      socket.destroy()
      settle()
    }
    const stop = () => end(() => reject(signal.reason as Error))
    signal.addEventListener('abort', stop, { once: true })
    socket.once('error', (error) => end(() => reject(error)))
    socket.once('secureConnect', () => {
      const { fingerprint256 = '' } = socket.getPeerCertificate()
      end(() => resolve(`sha256:${fingerprint256.replaceAll(':', '').toLowerCase()}`))
    })
  })
}
