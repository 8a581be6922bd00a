import type { Effect, Moment } from './events.js'
import type { AgentPace } from './pace.js'
import type { AgentState, HeartbeatState } from './state.js'

/** After so many failures in a row, even urgent heartbeats no longer hurry a virtual clock. */
const PATIENCE = 20

interface HeartbeatStep {
  readonly state: AgentState
  readonly effects: readonly Effect[]
}

/**
 * Something happened that Ironic waits for: this agent is up, a command has ended. The heartbeat that says so goes out at
 * once, but not sooner after the last one than the pace allows; one that is under way may have missed it, so another
 * follows.
 */
export function urgentHeartbeat(state: AgentState, { at }: Moment, pace: AgentPace): HeartbeatStep {
  const heartbeat: HeartbeatState = { ...state.live.heartbeat, urgent: true, unheard: true, repeats: 0 }
  const waits = heartbeat.underWay || state.live.phase !== 'serving'
  return { state: withHeartbeat(state, heartbeat), effects: waits ? [] : [soonest(heartbeat, at, pace)] }
}

/** The timer says that a heartbeat is due. */
export function heartbeatDue(state: AgentState, { at }: Moment): HeartbeatStep {
  const { heartbeat } = state.live
  if (heartbeat.underWay) return { state, effects: [] }
  const { urgent } = heartbeat
  return {
    state: withHeartbeat(state, { ...heartbeat, underWay: { urgent }, urgent: false, lastAt: at }),
    effects: [{ kind: 'heartbeat' }],
  }
}

/** Ironic said 202. The next one goes out after a random 0.3 to 0.6 of the time that it tolerates. */
export function heartbeatTaken(state: AgentState, { at, chance }: Moment, pace: AgentPace): HeartbeatStep {
  const heartbeat: HeartbeatState = { ...state.live.heartbeat, underWay: null, tokenRefused: false, failures: 0 }
  if (heartbeat.urgent) return { state: withHeartbeat(state, heartbeat), effects: [soonest(heartbeat, at, pace)] }
  const ordinary = at + state.kept.heartbeatTimeout * 1000 * (0.3 + 0.3 * chance)
  if (heartbeat.unheard && pace.repeatUnheard !== null) {
    const again = at + pace.repeatUnheard * 2 ** heartbeat.repeats
    if (again < ordinary)
      return {
        state: withHeartbeat(state, { ...heartbeat, repeats: heartbeat.repeats + 1 }),
        effects: [waitForHeartbeat(again, false)],
      }
  }
  return { state: withHeartbeat(state, heartbeat), effects: [waitForHeartbeat(ordinary, true)] }
}

/** Refused or not answered: again after 5 to 10 s; an agent without pace begins sooner and gets there by doubling. */
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
    underWay: null,
    tokenRefused,
    urgent: before.urgent || (before.underWay?.urgent ?? false),
    failures: before.failures + 1,
  }
  const weak = !heartbeat.urgent || heartbeat.failures > PATIENCE
  const hurry = Math.min(1, pace.retryFactor * 2 ** before.failures)
  return {
    state: withHeartbeat(state, heartbeat),
    effects: [
      // Trying again does not mend it, though the agent does, as IPA: once is enough.
      ...(tokenRefused && before.tokenRefused ? [] : [warning(tokenRefused ? tokenLost(why) : notTaken(why))]),
      waitForHeartbeat(at + 5000 * (1 + chance) * hurry, weak),
    ],
  }
}

/** Ironic has asked for something, so it knows where things stand. */
export function heard(state: AgentState): AgentState {
  const { heartbeat } = state.live
  return heartbeat.unheard ? withHeartbeat(state, { ...heartbeat, unheard: false, repeats: 0 }) : state
}

/** Ironic's words for a token that it does not know, or not any more. */
const TOKEN_REFUSED = 'Invalid or missing agent token'

const notTaken = (why: string): string => `Ironic did not take the heartbeat, trying again: ${why}`
const tokenLost = (why: string): string =>
  `Ironic has replaced or dropped this agent's token, so it takes no heartbeat of this boot any more (${why}): start the node's next operation or reboot the machine, which boots a new agent`
const warning = (message: string): Effect => ({ kind: 'log', level: 'warn', message })

const soonest = ({ lastAt }: HeartbeatState, at: number, pace: AgentPace): Effect =>
  waitForHeartbeat(Math.max(at, (lastAt ?? -Infinity) + pace.heartbeatGap), false)

const waitForHeartbeat = (until: number, weak: boolean): Effect => ({ kind: 'wait', until, weak, for: 'heartbeat' })

const withHeartbeat = (state: AgentState, heartbeat: HeartbeatState): AgentState => ({
  ...state,
  live: { ...state.live, heartbeat },
})
