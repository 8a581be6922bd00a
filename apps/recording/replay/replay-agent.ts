import { defined, openInScope, type Clock, seconds, silent } from '../../../base/runtime/index.js'
import { serveHttp, type TlsIdentity, type WireRequest, type WireResponse } from '../../../base/wire/index.js'
import { compareCalls } from '../comparison/compare-calls.js'
import { onlyIn, type Comparison } from '../comparison/diff-recordings.js'
import type { SeenDifference } from '../comparison/difference.js'
import type { RecordingExchange, Recording } from '../format/recording-exchange.js'
import { recordingError } from '../recording-error.js'
import { agentScripts } from './agent-script.js'
import { PlayedAgent } from './played-agent.js'
import { Sender, type SenderOptions } from './sender.js'

export interface AgentReplayOptions extends Omit<SenderOptions, 'secrets'> {
  readonly secrets: Map<string, string>
  readonly recording: Recording
  readonly clock: Clock
  /** Address at which Ironic reaches the agents; `127.0.0.1` by default. */
  readonly host?: string
  /** Longest wait for a call of Ironic, in milliseconds; three times as long as recorded and a minute without. */
  readonly wait?: number
  /** Makes the certificate of agents that speak TLS. */
  readonly identity: (host: string) => Promise<TlsIdentity>
}

/** Ironic may look at its agents for so long after the last recorded call. */
const LAST_CALLS_TIMEOUT = seconds(2)

/**
 * Plays the part of the agents of a recording towards an Ironic that has nodes with their MAC addresses: looks them up, sends
 * heartbeats, and answers Ironic's commands as recorded.
 *
 * @throws UserError `nothing-to-replay`, `replay-unreachable`; the signal's reason
 */
export async function replayAgents(options: AgentReplayOptions): Promise<Comparison> {
  const { recording, clock, host = '127.0.0.1', ids, signal } = options
  const scripts = agentScripts(recording.exchanges)
  if (scripts.length === 0)
    throw recordingError('nothing-to-replay', `${recording.name} has no request of an agent`, { kind: 'usage' })
  const sender = new Sender(options)
  const root = await sender.send({ ...scripts[0]!.exchanges[0]!, method: 'GET', target: '/' }, { body: null })
  if (!root.answer)
    throw recordingError('replay-unreachable', `there is no answer from ${options.url}`, {
      cause: new Error(root.exchange.failure),
    })
  return openInScope(async (scope) => {
    const isSecure = recording.exchanges.some(({ request }) => callbackOf(request.body)?.startsWith('https:'))
    const tls = isSecure ? await options.identity(host) : undefined
    const agents = new Map<string, PlayedAgent>()
    const dispatch = async ({ method, target, headers, body }: WireRequest): Promise<WireResponse> => {
      const [, name = '', rest = '/'] = /^\/([^/?]*)(\/.*)?$/s.exec(target) ?? []
      const agent = agents.get(name)
      const asked = { method, target: rest, message: sender.message(headers, body) }
      const exchange = agent && (await agent.asked(asked))
      const answer = exchange && (ids.document(exchange.response?.body) ?? null)
      return exchange
        ? { status: exchange.status!, headers: { 'content-type': 'application/json' }, body: JSON.stringify(answer) }
        : { status: 404, headers: { 'content-type': 'application/json' }, body: JSON.stringify(UNKNOWN_CALL) }
    }
    const server = scope.use(await serveHttp({ dispatch, host, port: 0, clock, logger: silent, ...defined({ tls }) }))
    const differences: SeenDifference[] = []
    let calls = 0
    const compared = (was: RecordingExchange, is: RecordingExchange | null): void => {
      calls += 1
      const call = { from: was.from, to: was.to, exchanges: [was] }
      if (!is) differences.push(onlyIn(call, 'missing'))
      else differences.push(...compareCalls(call, { ...call, exchanges: [is] }, { ids, requests: was.to === 'agent' }))
    }
    const added = (is: RecordingExchange): void => {
      calls += 1
      differences.push(onlyIn({ from: is.from, to: is.to, exchanges: [is] }, 'new'))
    }
    await Promise.all(
      scripts.map(async ({ name, exchanges }) => {
        const callback = {
          callback_url: `${server.url}/${name}`,
          ...defined({ agent_verify_ca: tls ? tls.certificate : undefined }),
        }
        const agent = new PlayedAgent({ ...options, exchanges, sender, callback, compared, added })
        agents.set(name, agent)
        await agent.play()
      }),
    )
    await clock.sleep(LAST_CALLS_TIMEOUT, { signal })
    await scope[Symbol.asyncDispose]()
    return { differences, calls }
  })
}

const UNKNOWN_CALL = { faultcode: 'Client', faultstring: 'The recording has no such call of Ironic.' }

function callbackOf(body: unknown): string | undefined {
  const url = (body as { callback_url?: unknown } | null | undefined)?.callback_url
  return typeof url === 'string' ? url : undefined
}
