import type { IncomingMessage, ServerResponse } from 'node:http'
import type { ConnectionOptions } from 'node:tls'
import { splitCredentials } from '../../../base/bytes/index.js'
import { defined, openInScope, type Clock, type Logger, sharedAbort } from '../../../base/runtime/index.js'
import type { ClientTls, TlsIdentity } from '../../../base/wire/index.js'
import type { RecordingExchange, Party } from '../format/recording-exchange.js'
import { RecordingWriter } from '../format/write-recording.js'
import { Masker } from '../masking/masker.js'
import { makeRecordedMessage } from '../masking/masked-message.js'
import { SecretNames } from '../masking/secret-names.js'
import { AgentCallbacks, authority, heartbeatNode, parseHostHeader, isAgentCall, isAgentRoot } from './agent-calls.js'
import { recordedHeaders } from './headers.js'
import { BodyExcerpt } from './body-excerpt.js'
import { openListener, type ProxyListener } from './listeners.js'
import { relay, type Relayed, type RelayRequest, type RelayTarget } from './relay.js'
import { recordingError } from '../recording-error.js'

export interface RecorderOptions {
  /** URL of the Ironic, http or https, without `/v1`. */
  readonly upstream: string
  readonly tls?: ClientTls
  /** File of the recording. */
  readonly output: string
  /** Replace the file if it exists. */
  readonly force?: boolean
  /** Address to listen on; `127.0.0.1` by default. */
  readonly host?: string
  /** Port for clients and agents; 0 picks a free one. */
  readonly port: number
  /** Port at which Ironic is to reach its agents, 0 for a free one; without, only the agents' own requests are recorded. */
  readonly agentPort?: number
  /** Names by which clients may call besides those of this host. */
  readonly allowedHosts?: readonly string[] | undefined
  /** Largest body that is kept, in bytes; 4 MiB by default. */
  readonly bodyLimit?: number
  /** Further names of secrets. */
  readonly secretNames?: readonly string[]
  readonly clock: Clock
  readonly logger: Logger
  /** Makes a certificate for an address of this recorder, for agents that speak TLS. */
  readonly identity: (host: string) => Promise<TlsIdentity>
}

/** Numbers of exchanges. */
export interface RecorderCounts {
  readonly recorded: number
  /** Exchanges that did not come to their end. */
  readonly failed: number
  /** Exchanges with a body beyond the limit. */
  readonly cut: number
  /** Exchanges that could not be written. */
  readonly lost: number
}

export interface CallRecorder extends AsyncDisposable {
  /** The URL for clients and agents. */
  readonly url: string
  /** The port for Ironic's calls to agents. */
  readonly agentPort: number | undefined
  readonly counts: RecorderCounts
}

const MAX_RECORDED_BODY_BYTES = 4 * 2 ** 20
/** Larger heartbeats are passed on as they are: real ones are much smaller. */
const MAX_HEARTBEAT_BYTES = 2 ** 20
/** Exchanges under way may take so long to end once the recorder closes, in milliseconds. */
const RECORDER_CLOSE_TIMEOUT = 300

/**
 * Stands between the clients of an Ironic and the Ironic, and records what they say to each other.
 *
 * @throws UserError `upstream-url`, `recording-exists`, `recording-unwritable`, `port-in-use` or `address-unusable`
 */
export async function openRecorder(options: RecorderOptions): Promise<CallRecorder> {
  const upstream = upstreamOf(options)
  const { host = '127.0.0.1', port, agentPort, allowedHosts, clock } = options
  return openInScope(async (scope) => {
    const session = new Session(options, upstream)
    const clients = scope.use(
      await openListener({ host, port, allowedHosts }, (request, response) => session.client(request, response), clock),
    )
    let agents: ProxyListener | undefined
    if (agentPort !== undefined) {
      agents = scope.use(
        await openListener(
          { host, port: agentPort, allowedHosts },
          (request, response) => session.agent(request, response),
          clock,
        ),
      )
      session.callAgentsAt(agents)
    }
    // The last thing that may fail: a command that cannot serve replaces no file.
    session.writer = scope.use(
      new RecordingWriter(
        options.output,
        { startedAt: new Date(clock.now()).toISOString(), upstream: upstream.url },
        { force: options.force ?? false },
      ),
    )
    return {
      url: `http://${authority(host, clients.port)}`,
      agentPort: agents?.port,
      counts: session.counts,
      [Symbol.asyncDispose]: async () => {
        await session.stop()
        await scope[Symbol.asyncDispose]()
      },
    }
  })
}

/** @throws UserError `upstream-url` */
function upstreamOf({ upstream, tls = {} }: RecorderOptions): RelayTarget & { authorization: string | null } {
  const { url, authorization } = ironicUrl(upstream)
  const options: ConnectionOptions = defined({ rejectUnauthorized: tls.insecure ? false : undefined, ca: tls.ca })
  return { url, tls: options, authorization }
}

/**
 * The URL of an Ironic without slash, `/v1` and credentials.
 *
 * @throws UserError `upstream-url`
 */
export function ironicUrl(text: string): { url: string; authorization: string | null } {
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text) || /[?#]/.test(text))
    throw recordingError('upstream-url', `${JSON.stringify(text)} is not a URL of an Ironic`, { kind: 'usage' })
  const { url, authorization } = splitCredentials(text)
  return { url: url.href.replace(/\/+$/, '').replace(/\/v1$/, ''), authorization }
}

/** The exchanges of one recording. */
class Session {
  readonly counts = { recorded: 0, failed: 0, cut: 0, lost: 0 }
  writer: RecordingWriter | undefined
  readonly #options: RecorderOptions
  readonly #upstream: RelayTarget
  readonly #masker: Masker
  readonly #limit: number
  readonly #cutOff = sharedAbort()
  readonly #underWay = new Set<object>()
  #allEnded = (): void => {}
  #seq = 0
  #agents: AgentCallbacks | undefined
  #listener: ProxyListener | undefined
  #hostWithIdentity: string | undefined
  #certificate: Promise<TlsIdentity> | undefined
  #hasComplained = false

  constructor(options: RecorderOptions, upstream: RelayTarget) {
    this.#options = options
    this.#upstream = upstream
    this.#masker = new Masker(new SecretNames(options.secretNames))
    this.#limit = options.bodyLimit ?? MAX_RECORDED_BODY_BYTES
  }

  callAgentsAt(listener: ProxyListener): void {
    this.#listener = listener
    this.#agents = new AgentCallbacks((...wanted) => this.#callback(...wanted), this.#upstream.tls)
  }

  /** A request of a client, or of an agent, to Ironic. */
  client(request: IncomingMessage, response: ServerResponse): void {
    const target = requestTargetOf(request)
    const method = request.method!
    const from: Party = isAgentCall(method, target) || isAgentRoot(request) ? 'agent' : 'client'
    const { host } = request.headers
    const base = {
      request,
      response,
      target,
      to: this.#upstream,
      limit: this.#limit,
      signal: this.#cutOff.signal,
      links: host === undefined ? undefined : { from: this.#upstream.url, to: `http://${host}` },
    }
    const node = heartbeatNode(method, target)
    const record = this.#begun(request, target, { from, to: 'ironic' })
    const isSmall = Number(request.headers['content-length'] ?? Infinity) <= MAX_HEARTBEAT_BYTES
    if (node === undefined || !this.#agents || !isSmall) return relay(base, record)
    void this.#heartbeat(base, node, record)
  }

  /** A request of Ironic to an agent. */
  agent(request: IncomingMessage, response: ServerResponse): void {
    const [, node = '', rest = ''] = /^\/([^/?]*)(.*)$/s.exec(requestTargetOf(request)) ?? []
    const target = rest.startsWith('/') ? rest : `/${rest}`
    const record = this.#begun(request, target, { from: 'ironic', to: 'agent', node })
    const to = this.#agents?.agent(node)
    if (!to) {
      record({
        request: new BodyExcerpt(0),
        failure: 'no agent of this node has sent a heartbeat through the recorder',
      })
      request.socket.resetAndDestroy()
      return
    }
    relay({ request, response, target, to, limit: this.#limit, signal: this.#cutOff.signal }, record)
  }

  /** Gives exchanges under way a moment, then cuts them off; each is in the recording. */
  async stop(): Promise<void> {
    const over = new AbortController()
    const ended = new Promise<void>((resolve) => (this.#allEnded = resolve))
    if (this.#underWay.size > 0)
      await Promise.race([
        ended,
        this.#options.clock.sleep(RECORDER_CLOSE_TIMEOUT, { signal: over.signal }).catch(() => {}),
      ])
    over.abort()
    this.#cutOff.abort()
  }

  async #heartbeat(base: RelayRequest, node: string, record: (relayed: Relayed) => void): Promise<void> {
    const { request } = base
    const chunks: Buffer[] = []
    try {
      for await (const chunk of request) chunks.push(chunk as Buffer)
    } catch {
      return record({
        request: new BodyExcerpt(0),
        failure: 'the agent closed the connection in the middle of the request',
      })
    }
    const own = Buffer.concat(chunks)
    const host = parseHostHeader(request.headers.host, this.#options.host ?? '127.0.0.1')
    const sent = await this.#agents!.heartbeat(node, own, host).catch((error: unknown) => {
      this.#options.logger('error', `a heartbeat is passed on as it is: ${String(error)}`)
      return undefined
    })
    relay({ ...base, replacement: { own, sent: sent ?? own } }, record)
  }

  async #callback(node: string, secure: boolean, host: string): Promise<{ url: string; certificate?: string }> {
    const { port } = this.#listener!
    const url = `://${authority(host, port)}/${node}`
    if (!secure) return { url: `http${url}` }
    if (this.#hostWithIdentity !== host) {
      this.#hostWithIdentity = host
      this.#certificate = this.#options.identity(host)
    }
    const identity = await this.#certificate!
    this.#listener!.secure(identity)
    return { url: `https${url}`, certificate: identity.certificate }
  }

  #begun(
    request: IncomingMessage,
    target: string,
    parties: { from: Party; to: Party; node?: string },
  ): (relayed: Relayed) => void {
    const { clock } = this.#options
    const seq = ++this.#seq
    const at = new Date(clock.now()).toISOString()
    const began = clock.elapsed()
    const exchange = {}
    this.#underWay.add(exchange)
    return ({ request: body, answer, failure }) => {
      this.#underWay.delete(exchange)
      if (this.#underWay.size === 0) this.#allEnded()
      const masker = this.#masker
      const asked = makeRecordedMessage(recordedHeaders(request.headers), body, masker)
      const answered = answer ? makeRecordedMessage(recordedHeaders(answer.headers), answer.body, masker) : null
      this.#write({
        seq,
        at,
        ms: Math.round(clock.elapsed() - began),
        ...parties,
        method: request.method!,
        target: masker.target(target),
        request: asked,
        status: answer?.status ?? null,
        response: answered,
        ...defined({ failure: failure === undefined ? undefined : masker.text(failure) }),
      })
    }
  }

  #write(exchange: RecordingExchange): void {
    const { logger } = this.#options
    try {
      this.writer?.write(exchange)
      this.counts.recorded += 1
      if (exchange.request.cut || exchange.response?.cut) this.counts.cut += 1
      if (exchange.failure !== undefined) {
        this.counts.failed += 1
        logger('warn', `exchange ${exchange.seq}, ${exchange.method} ${exchange.target}: ${exchange.failure}`)
      }
    } catch (error) {
      this.counts.lost += 1
      if (this.#hasComplained) return
      this.#hasComplained = true
      const causes = error instanceof Error && error.cause instanceof Error ? `: ${error.cause.message}` : ''
      logger('error', `requests are passed on and not recorded any more: ${(error as Error).message}${causes}`)
    }
  }
}

/** Path and query of a request, also of one that is sent as to a proxy. */
function requestTargetOf({ url = '/' }: IncomingMessage): string {
  const target = url.replace(/^https?:\/\/[^/?#]*/i, '')
  return target.startsWith('/') ? target : `/${target}`
}
