import { type Clock, seconds } from '../../../base/runtime/index.js'
import type { IdMap } from '../comparison/ids.js'
import { isRefusedForNow } from '../comparison/compared-calls.js'
import { callName } from '../comparison/call-routes.js'
import type { RecordingExchange, RecordingMessage } from '../format/recording-exchange.js'
import type { Sender, ReplayedRequest } from './sender.js'

export interface PlayedAgentOptions {
  readonly exchanges: readonly RecordingExchange[]
  readonly sender: Sender
  readonly ids: IdMap
  readonly secrets: Map<string, string>
  readonly clock: Clock
  readonly signal: AbortSignal
  readonly wait?: number
  /** Members of this agent's heartbeats. */
  readonly callback: Readonly<Record<string, string>>
  /** Called with an exchange of the recording, and the same one of this run; null where there was none. */
  readonly compared: (was: RecordingExchange, is: RecordingExchange | null) => void
  /** Called with a command that the recording has not. */
  readonly added: (is: RecordingExchange) => void
}

/** A request of Ironic. */
export interface AgentRequest {
  readonly method: string
  readonly target: string
  readonly message: RecordingMessage
}

interface PlayedCommand {
  readonly asked: AgentRequest
  readonly answer: (exchange: RecordingExchange | undefined) => void
}

const PLAYED_HEARTBEAT_INTERVAL = seconds(3)
const PLAYED_RETRY_DELAY = seconds(1)
const PLAYED_POLL_INTERVAL = 50
const MAX_PLAYED_PAUSE = seconds(5)
/** Once a command did not come, the next ones are waited for no longer than this. */
const MISSING_COMMAND_TIMEOUT = seconds(5)

const isHeartbeat = ({ target }: RecordingExchange): boolean => target.startsWith('/v1/heartbeat/')
const isLookup = ({ target }: RecordingExchange): boolean => target.startsWith('/v1/lookup')
const targetPathOf = (target: string): string => target.replace(/\?.*$/s, '')

/** An agent that makes the requests of a recorded one. */
export class PlayedAgent {
  readonly #options: PlayedAgentOptions
  readonly #commands: PlayedCommand[] = []
  /** The exchange that is being played. */
  #at = 0
  #heartbeat: RecordingExchange | undefined
  #hasMissed = false

  constructor(options: PlayedAgentOptions) {
    this.#options = options
  }

  async play(): Promise<void> {
    const { exchanges, signal } = this.#options
    for (this.#at = 0; this.#at < exchanges.length; this.#at++) {
      signal.throwIfAborted()
      const exchange = exchanges[this.#at]!
      if (exchange.to === 'agent') {
        if (exchange.method === 'POST') await this.#awaited(exchange)
      } else if (!this.#isOfNoUse(exchange)) await this.#sent(exchange)
    }
    this.#at = exchanges.length - 1
    for (const command of this.#commands.splice(0)) this.#refuse(command)
  }

  /** The recorded exchange that answers a request of Ironic; undefined if none does. */
  asked(asked: AgentRequest): Promise<RecordingExchange | undefined> {
    if (asked.method !== 'POST') return Promise.resolve(this.#latest(asked))
    return new Promise((answer) => this.#commands.push({ asked, answer }))
  }

  /** Requests that were refused and made again, and heartbeats that nothing came of. */
  #isOfNoUse(exchange: RecordingExchange): boolean {
    const { status } = exchange
    if (status === null || isRefusedForNow(status)) return true
    const later = this.#options.exchanges.slice(this.#at + 1)
    if (isLookup(exchange) && status === 404) return later.some((each) => isLookup(each) && each.status === 200)
    return isHeartbeat(exchange) && later[0] !== undefined && isHeartbeat(later[0])
  }

  async #sent(was: RecordingExchange): Promise<void> {
    const { clock, signal, compared, secrets } = this.#options
    if (was.target === '/') await clock.sleep(this.#pauseBefore(was), { signal })
    if (isHeartbeat(was)) this.#heartbeat = was
    const until = clock.elapsed() + this.#limit(was)
    let sent: ReplayedRequest
    for (;;) {
      sent = await this.#send(was)
      const { status } = sent.exchange
      // The node may not be ready for its agent yet.
      const isEarly = isRefusedForNow(status) || status === null || (status === 404 && was.status !== 404)
      if (!isEarly || clock.elapsed() >= until) break
      await clock.sleep(PLAYED_RETRY_DELAY, { signal })
    }
    const label = tokenIn(was.response?.body)
    const token = tokenIn(parseMessageJson(sent.answer?.body))
    if (label !== undefined && token !== undefined) secrets.set(label, token)
    compared(was, sent.exchange)
  }

  #send(was: RecordingExchange): Promise<ReplayedRequest> {
    const { sender, callback, ids } = this.#options
    if (isLookup(was)) {
      // Ironic finds the node by its addresses; the ramdisk knows the node's id only from Ironic's answer.
      const target = ids
        .text(was.target)
        .replace(/([?&])node_uuid=[^&]*&?/, (whole, before: string) =>
          ids.text(was.target) === was.target ? before : whole,
        )
      return sender.send(was, { target: target.replace(/[?&]$/, '') })
    }
    const body = sender.body(was.request)
    return sender.send(was, isHeartbeat(was) ? { body: { ...(body as object), ...callback } } : { body })
  }

  /** Waits for a command, with heartbeats in between, and answers it. */
  async #awaited(was: RecordingExchange): Promise<void> {
    const { clock, signal, compared, added, exchanges } = this.#options
    const until = clock.elapsed() + (this.#hasMissed ? MISSING_COMMAND_TIMEOUT : this.#limit(was))
    let beat = clock.elapsed() + PLAYED_HEARTBEAT_INTERVAL
    for (;;) {
      const command = this.#commands.shift()
      if (command) {
        const is = exchangeOf(command.asked, was)
        if (callName(is) === callName(was)) {
          compared(was, is)
          return command.answer(was)
        }
        const isLater = exchanges
          .slice(this.#at + 1)
          .some((each) => each.to === 'agent' && callName(each) === callName(is))
        if (isLater) {
          this.#commands.unshift(command)
          break
        }
        added(is)
        this.#refuse(command)
      }
      if (clock.elapsed() >= until) break
      if (clock.elapsed() >= beat) {
        beat = clock.elapsed() + PLAYED_HEARTBEAT_INTERVAL
        if (this.#heartbeat) await this.#send(this.#heartbeat)
      }
      await clock.sleep(PLAYED_POLL_INTERVAL, { signal })
    }
    this.#hasMissed = true
    compared(was, null)
  }

  #refuse({ answer }: PlayedCommand): void {
    answer(undefined)
  }

  /** The last recorded look at the agent before the next command, else the first one of all. */
  #latest({ target }: AgentRequest): RecordingExchange | undefined {
    const { exchanges } = this.#options
    const isLook = (each: RecordingExchange): boolean =>
      each.to === 'agent' &&
      each.method === 'GET' &&
      each.status !== null &&
      targetPathOf(each.target) === targetPathOf(target)
    // While a command is awaited, nothing may show it.
    const end = exchanges.findIndex((each, at) => at >= this.#at && each.to === 'agent' && each.method === 'POST')
    return exchanges.slice(0, end < 0 ? exchanges.length : end).findLast(isLook) ?? exchanges.find(isLook)
  }

  #limit(was: RecordingExchange): number {
    const { wait } = this.#options
    return wait ?? 3 * this.#pauseBefore(was, Infinity) + seconds(60)
  }

  #pauseBefore(was: RecordingExchange, most: number = MAX_PLAYED_PAUSE): number {
    const before = this.#options.exchanges[this.#at - 1]
    const pause = before ? Date.parse(was.at) - Date.parse(before.at) - before.ms : 0
    return Math.min(Math.max(pause, 0), most)
  }
}

/** A command as it would have been recorded. */
const exchangeOf = ({ method, target, message }: AgentRequest, was: RecordingExchange): RecordingExchange => ({
  ...was,
  method,
  target,
  request: message,
})

function tokenIn(body: unknown): string | undefined {
  const token = (body as { config?: { agent_token?: unknown } } | null | undefined)?.config?.agent_token
  return typeof token === 'string' ? token : undefined
}

function parseMessageJson(text: string | undefined): unknown {
  try {
    return text === undefined ? undefined : JSON.parse(text)
  } catch {
    return undefined
  }
}
