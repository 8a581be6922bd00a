import { type Clock, seconds } from '../../../base/runtime/index.js'
import { type ComparedCall, callsOf, firstOf, isRefusedForNow, lastOf } from '../comparison/compared-calls.js'
import { compareCalls } from '../comparison/compare-calls.js'
import { onlyIn, type Comparison } from '../comparison/diff-recordings.js'
import type { SeenDifference } from '../comparison/difference.js'
import { endsInPassing, isAtRest, progressOf, seenStatesOf } from '../comparison/passing-states.js'
import type { RecordingExchange, Recording } from '../format/recording-exchange.js'
import { Sender, type SenderOptions } from './sender.js'
import { recordingError } from '../recording-error.js'

export interface ReplayOptions extends SenderOptions {
  readonly recording: Recording
  readonly clock: Clock
  /** Longest wait for what the recording waited for, in milliseconds; three times as long and a minute without. */
  readonly wait?: number
  /** How long an answer that is another one may stay the same before it is taken as it is; five seconds without. */
  readonly settle?: number
  /** Called after each call, with what differed. */
  readonly onCall?: (call: PlayedCall) => void
}

/** A call that was made again. */
export interface PlayedCall {
  readonly was: ComparedCall
  readonly is: ComparedCall
  readonly states: { readonly was: readonly string[]; readonly is: readonly string[] }
  readonly differences: readonly SeenDifference[]
}

/** Pauses of the recording before a change are kept, up to this. */
const MAX_REPLAYED_PAUSE = seconds(5)
const MIN_REPLAYED_PAUSE = seconds(1)
/** So many calls without an answer end a replay. */
const MAX_UNANSWERED_CALLS = 3
const REPLAY_SETTLE_DELAY = seconds(5)
/** Polls are made so often at first, and then so often. */
const FIRST_POLL_INTERVAL = 100
const LATER_POLL_INTERVAL = 500

const clientExchangesOf = ({ exchanges }: Recording): RecordingExchange[] =>
  exchanges.filter(({ from }) => from === 'client')

/**
 * The calls of a recording's clients.
 *
 * @throws UserError `nothing-to-replay`
 */
export function clientCallsOf(recording: Recording): ComparedCall[] {
  const calls = callsOf(clientExchangesOf(recording))
  if (calls.length > 0) return calls
  throw recordingError('nothing-to-replay', `${recording.name} has no request of a client`, { kind: 'usage' })
}

/**
 * Plays the part of the clients of a recording: one call after another, with polls until what they waited for is there.
 *
 * @throws UserError `nothing-to-replay`, `replay-unreachable`; the signal's reason
 */
export async function replayClient(options: ReplayOptions): Promise<Comparison> {
  const { recording, ids, signal, clock } = options
  const calls = clientCallsOf(recording)
  const sender = new Sender(options)
  const pauses = pausesOf(clientExchangesOf(recording))
  let unanswered = 0
  const differences: SeenDifference[] = []
  for (const [index, was] of calls.entries()) {
    signal.throwIfAborted()
    if (!isPoll(was)) await clock.sleep(pauses.get(firstOf(was))!, { signal })
    const first = firstOf(was)
    let found: SeenDifference[]
    let is: ComparedCall = { ...was, exchanges: [] }
    if (sender.body(first.request) === null) found = [onlyIn(was, 'missing')]
    else {
      is = await play(was, sender, options)
      const { failure } = lastOf(is)
      unanswered = failure === undefined ? 0 : unanswered + 1
      if (failure !== undefined && (index === 0 || unanswered === MAX_UNANSWERED_CALLS))
        throw recordingError('replay-unreachable', `there is no answer from ${options.url} to call ${first.seq}`, {
          cause: new Error(failure),
        })
      // Nothing is known of an exchange that did not come to its end.
      found = lastOf(was).status === null ? [] : compareCalls(was, is, { ids })
    }
    differences.push(...found)
    options.onCall?.({ was, is, states: { was: seenStatesOf(was), is: seenStatesOf(is) }, differences: found })
  }
  return { differences, calls: calls.length }
}

const isPoll = (call: ComparedCall): boolean => ['GET', 'HEAD'].includes(firstOf(call).method)

/** Targets of answers that change by themselves after a request was answered. */
const MOVES = /^\/v1\/(nodes|ports|portgroups|allocations)\b/

async function play(
  was: ComparedCall,
  sender: Sender,
  { clock, signal, wait, settle = REPLAY_SETTLE_DELAY }: ReplayOptions,
): Promise<ComparedCall> {
  const wanted = lastOf(was)
  const began = clock.elapsed()
  const recorded = Date.parse(wanted.at) + wanted.ms - Date.parse(firstOf(was).at)
  const limit = wait ?? 3 * recorded + seconds(60)
  const exchanges: RecordingExchange[] = []
  let unchangedSince = began
  let progress = ''
  for (;;) {
    const { exchange } = await sender.send(firstOf(was))
    exchanges.push(exchange)
    const now = clock.elapsed()
    const isSame = progress === progressOf(exchange)
    if (!isSame) [progress, unchangedSince] = [progressOf(exchange), now]
    if (isDone(was, exchange) || now - began >= limit) break
    // The node rests in another state than in the recording.
    if (isPoll(was) && isAtRest(exchange) && now - unchangedSince >= Math.min(settle, limit)) break
    await clock.sleep(now - began < seconds(5) ? FIRST_POLL_INTERVAL : LATER_POLL_INTERVAL, { signal })
  }
  return { ...was, exchanges }
}

function isDone(was: ComparedCall, exchange: RecordingExchange): boolean {
  const wanted = lastOf(was)
  if (wanted.status === null) return true
  if (!isPoll(was)) return !isRefusedForNow(exchange.status) || isRefusedForNow(wanted.status)
  if (!MOVES.test(wanted.target) || endsInPassing(was)) return true
  return progressOf(exchange) === progressOf(wanted)
}

/** For each exchange, how long nothing was going on before it began, as far as the recording shows it. */
function pausesOf(exchanges: readonly RecordingExchange[]): Map<RecordingExchange, number> {
  let ended = Infinity
  return new Map(
    exchanges.map((exchange) => {
      const began = Date.parse(exchange.at)
      const pause = began - ended
      ended = Math.max(ended === Infinity ? 0 : ended, began + exchange.ms)
      return [exchange, pause < MIN_REPLAYED_PAUSE ? 0 : Math.min(pause, MAX_REPLAYED_PAUSE)]
    }),
  )
}
