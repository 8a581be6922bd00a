import { isDeepStrictEqual } from 'node:util'
import { agentErrors, HEARTBEAT_VERSION, lowerVersion, type LookupAnswer } from '../base/wire/index.js'
import type { AgentEvent, Moment, Wake } from './agent-events.js'
import {
  afterInspection,
  beginLookup,
  foundNode,
  inspectionFailed,
  inspectionRefused,
  lookUp,
  retryLookup,
  startOver,
} from './look-up-node.js'
import { ironicCalled, heartbeatDue, heartbeatFailed, heartbeatAccepted, urgentHeartbeat } from './agent-heartbeat.js'
import type { Reduction, Rules } from './reduction.js'
import {
  initialState,
  inPhase,
  runningCommand,
  withSaved,
  type AgentState,
  type Closing,
  type CommandRecord,
} from './agent-phases.js'

const CLOSED: Record<Closing, string> = {
  rescued: 'the machine is being rescued: the agent accepts no more commands',
  'locked down': 'locked down by command until the next boot',
}
/**
 * All decisions of an agent, as a pure function. The shell saves `state.saved` when it changed, then runs the effects,
 * and turns their results into further events.
 */
export function reduce(state: AgentState, event: AgentEvent, moment: Moment, rules: Rules): Reduction {
  const { saved } = state
  switch (event.kind) {
    case 'started':
      return start(state, moment, rules)
    case 'woke':
      return woke(state, event.for, moment, rules)
    case 'inspection accepted':
      return afterInspection(state, event.uuid, moment, rules, [])
    case 'inspection refused':
      return inspectionRefused(state, event, moment, rules)
    case 'inspection failed':
      return inspectionFailed(state, event.why, moment, rules)
    case 'version found':
      return {
        state: { saved: { ...saved, ironicVersion: event.version }, live: { ...state.live, attempts: 0 } },
        effects: [lookUp(state)],
      }
    case 'version not found':
      return retryLookup(state, 'discover', event.why, false, moment, rules)
    case 'looked up':
      return afterLookup(state, event.answer, moment, rules)
    case 'lookup failed':
      return retryLookup(state, 'look up', event.why, event.conflict, moment, rules)
    case 'secured':
      return serve(withSaved(state, { tls: event.identity }), moment, rules)
    case 'not secured':
      return startOver(state, `cannot be served by TLS: ${event.why}`, moment)
    case 'heartbeat accepted':
      return heartbeatAccepted(state, moment, rules.pace)
    case 'heartbeat failed':
      return heartbeatFailed(state, event.why, moment, rules.pace)
    case 'command posted':
      return startCommand(state, event)
    case 'command answered':
      return noteCommand(state, event.record)
    case 'program started':
      return { state: changeRunning(state, event.id, (command) => ({ ...command, run: event.run })), effects: [] }
    case 'command ended':
      return endCommand(state, event, moment, rules)
    case 'node seen':
      return {
        state: isDeepStrictEqual(event.hints, saved.hints ?? null) ? state : withSaved(state, { hints: event.hints }),
        effects: [],
      }
    case 'closed':
      return closeAgent(withSaved(state, { closed: event.as }), event.as)
    case 'results read':
      return { state: ironicCalled(state), effects: [] }
  }
}

function start(state: AgentState, moment: Moment, rules: Rules): Reduction {
  const { saved } = state
  if (rules.standalone) {
    const running = runningCommand(saved)
    return { state: inPhase(state, 'standalone'), effects: running ? [{ kind: 'resume', command: running }] : [] }
  }
  if (saved.closed) return closeAgent(state, saved.closed)
  // After a restart on the same boot the saved token is still valid; a lookup would return a masked one.
  if (saved.nodeUuid !== null && saved.token !== null) return secureFirst(state, moment, rules)
  if (!saved.inspected) return { state: inPhase(state, 'inspecting'), effects: [{ kind: 'inspect' }] }
  return beginLookup(state, null, moment, rules)
}

function afterLookup(state: AgentState, answer: LookupAnswer, moment: Moment, rules: Rules): Reduction {
  const found = foundNode(state, answer)
  if (found.state.live.phase === 'locked down') return found
  const next = secureFirst(found.state, moment, rules)
  return { ...next, effects: [...found.effects, ...next.effects] }
}

/** Settles TLS before the first heartbeat, which sends the callback URL: it is the same for the whole boot. */
function secureFirst(state: AgentState, moment: Moment, rules: Rules): Reduction {
  const { tls, ironicVersion } = state.saved
  if (!rules.tls || tls === null) return serve(state, moment, rules)
  const understood = lowerVersion(ironicVersion ?? '1.1', HEARTBEAT_VERSION) === HEARTBEAT_VERSION
  if (tls || understood) return { state: inPhase(state, 'looking up'), effects: [{ kind: 'secure' }] }
  const old = `this Ironic (${ironicVersion ?? 'unknown version'}) does not support agent certificates (needs ${HEARTBEAT_VERSION}): TLS is off`
  const next = serve(withSaved(state, { tls: null }), moment, rules)
  return { ...next, effects: [{ kind: 'log', level: 'info', message: old }, ...next.effects] }
}

function serve(state: AgentState, moment: Moment, rules: Rules): Reduction {
  const running = runningCommand(state.saved)
  const { state: serving, effects } = urgentHeartbeat(inPhase(state, 'serving'), moment, rules.pace)
  return { state: serving, effects: running ? [{ kind: 'resume', command: running }, ...effects] : effects }
}

/** Runs a command, unless another one runs. */
function startCommand(state: AgentState, event: AgentEvent & { kind: 'command posted' }): Reduction {
  const { commands } = state.saved
  const running = runningCommand(state.saved)
  if (running) return { state, effects: [], refusal: agentErrors.busy(running.name) }
  const { id, name, fullName, params } = event
  const command: CommandRecord = { id, name, fullName, status: 'RUNNING', error: null, result: null, params }
  return {
    state: ironicCalled(withCommands(state, [...commands, command])),
    effects: [{ kind: 'run', command }],
  }
}

/** Notes a command that was answered at once, unless another one runs. */
function noteCommand(state: AgentState, record: CommandRecord): Reduction {
  const running = runningCommand(state.saved)
  if (running) return { state, effects: [], refusal: agentErrors.busy(running.name) }
  return { state: ironicCalled(withCommands(state, [...state.saved.commands, record])), effects: [] }
}

function endCommand(
  state: AgentState,
  event: AgentEvent & { kind: 'command ended' },
  moment: Moment,
  rules: Rules,
): Reduction {
  const { status, error, result } = event
  const ended = changeRunning(state, event.id, ({ id, name, fullName }) => ({
    id,
    name,
    fullName,
    status,
    error,
    result,
  }))
  return ended === state ? { state, effects: [] } : urgentHeartbeat(ended, moment, rules.pace)
}

function closeAgent(state: AgentState, as: Closing): Reduction {
  return { state: inPhase(state, as), effects: [{ kind: 'log', level: 'info', message: CLOSED[as] }] }
}

function woke(state: AgentState, wake: Wake, moment: Moment, rules: Rules): Reduction {
  switch (wake) {
    case 'inspect':
      return { state, effects: [{ kind: 'inspect' }] }
    case 'discover':
      return { state, effects: [{ kind: 'discover' }] }
    case 'look up':
      return { state, effects: [lookUp(state)] }
    case 'start over':
      return state.live.phase === 'gave up' ? start(initialState(state.saved), moment, rules) : { state, effects: [] }
    case 'heartbeat':
      return state.live.phase === 'serving' ? heartbeatDue(state, moment) : { state, effects: [] }
  }
}

const withCommands = (state: AgentState, commands: readonly CommandRecord[]): AgentState => ({
  ...state,
  saved: { ...state.saved, commands },
})

/** Changes the running command, if it is the one with this id. */
function changeRunning(state: AgentState, id: string, change: (command: CommandRecord) => CommandRecord): AgentState {
  const running = runningCommand(state.saved)
  if (running?.id !== id) return state
  return withCommands(state, [...state.saved.commands.slice(0, -1), change(running)])
}
