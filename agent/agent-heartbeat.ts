import type { AgentEffect, Moment } from './agent-events.js'
import type { AgentPace } from './pace.js'
import type { AgentState, HeartbeatState } from './agent-phases.js'

/** Failures in a row after which even urgent heartbeats no longer keep a virtual clock going. */
const MAX_URGENT_FAILURES = 20

interface HeartbeatStep {
  readonly state: AgentState
  readonly effects: readonly AgentEffect[]
}

/**
 * Requests a heartbeat for something that Ironic waits for: this agent is up, or a command has ended. It goes out at
 * once, but not sooner after the last one than the pace allows. One that is in flight may have missed the event, so
 * another follows.
 */
export function urgentHeartbeat(state: AgentState, { at }: Moment, pace: AgentPace): HeartbeatStep {
  const heartbeat: HeartbeatState = { ...state.live.heartbeat, urgent: true, unanswered: true, repeats: 0 }
  const waits = heartbeat.inFlight || state.live.phase !== 'serving'
  return { state: withHeartbeat(state, heartbeat), effects: waits ? [] : [soonest(heartbeat, at, pace)] }
}

/** Sends a heartbeat when the timer fires. */
export function heartbeatDue(state: AgentState, { at }: Moment): HeartbeatStep {
  const { heartbeat } = state.live
  if (heartbeat.inFlight) return { state, effects: [] }
  const { urgent } = heartbeat
  return {
    state: withHeartbeat(state, { ...heartbeat, inFlight: { urgent }, urgent: false, lastAt: at }),
    effects: [{ kind: 'heartbeat' }],
  }
}

/** Handles a 202 of Ironic. The next heartbeat is due after a random 0.3 to 0.6 of the timeout. */
export function heartbeatAccepted(state: AgentState, { at, chance }: Moment, pace: AgentPace): HeartbeatStep {
  const heartbeat: HeartbeatState = { ...state.live.heartbeat, inFlight: null, tokenRefused: false, failures: 0 }
  if (heartbeat.urgent) return { state: withHeartbeat(state, heartbeat), effects: [soonest(heartbeat, at, pace)] }
  const ordinary = at + state.saved.heartbeatTimeout * 1000 * (0.3 + 0.3 * chance)
  if (heartbeat.unanswered && pace.repeatUnanswered !== null) {
    const again = at + pace.repeatUnanswered * 2 ** heartbeat.repeats
    if (again < ordinary)
      return {
        state: withHeartbeat(state, { ...heartbeat, repeats: heartbeat.repeats + 1 }),
        effects: [waitForHeartbeat(again, false)],
      }
  }
  return { state: withHeartbeat(state, heartbeat), effects: [waitForHeartbeat(ordinary, true)] }
}

/**
 * Handles a failed heartbeat: retries after 5 to 10 s, at a prompt pace after a shorter wait that doubles each time.
 */
export function heartbeatFailed(
  state: AgentState,
  why: string,
  { at, chance }: Moment,
  pace: AgentPace,
): HeartbeatStep {
  const before = state.live.heartbeat
  const tokenRefused = why.includes(TOKEN_REFUSED)
  const heartbeat: HeartbeatState = {
    ...before,
    inFlight: null,
    tokenRefused,
    urgent: before.urgent || (before.inFlight?.urgent ?? false),
    failures: before.failures + 1,
  }
  const weak = !heartbeat.urgent || heartbeat.failures > MAX_URGENT_FAILURES
  const factor = Math.min(1, pace.retryFactor * 2 ** before.failures)
  return {
    state: withHeartbeat(state, heartbeat),
    effects: [
      // Retrying cannot help, but the agent does so as IPA does; log it once only.
      ...(tokenRefused && before.tokenRefused ? [] : [warning(tokenRefused ? tokenLost(why) : notAccepted(why))]),
      waitForHeartbeat(at + 5000 * (1 + chance) * factor, weak),
    ],
  }
}

/** Notes that Ironic has sent a request, so it knows the state of the agent. */
export function ironicCalled(state: AgentState): AgentState {
  const { heartbeat } = state.live
  return heartbeat.unanswered ? withHeartbeat(state, { ...heartbeat, unanswered: false, repeats: 0 }) : state
}

/** Ironic's words for an unknown or replaced token. */
const TOKEN_REFUSED = 'Invalid or missing agent token'

const notAccepted = (why: string): string => `the heartbeat failed; sending it again: ${why}`
const tokenLost = (why: string): string =>
  `Ironic replaced or dropped this agent's token and will refuse all heartbeats of this boot (${why}): start the node's next operation, or reboot the machine to start a new agent`
const warning = (message: string): AgentEffect => ({ kind: 'log', level: 'warn', message })

const soonest = ({ lastAt }: HeartbeatState, at: number, pace: AgentPace): AgentEffect =>
  waitForHeartbeat(Math.max(at, (lastAt ?? -Infinity) + pace.heartbeatGap), false)

const waitForHeartbeat = (until: number, weak: boolean): AgentEffect => ({
  kind: 'wait',
  until,
  weak,
  for: 'heartbeat',
})

const withHeartbeat = (state: AgentState, heartbeat: HeartbeatState): AgentState => ({
  ...state,
  live: { ...state.live, heartbeat },
})
