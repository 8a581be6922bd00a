import { isDeepStrictEqual } from 'node:util'
import { rootDeviceHints } from '../steps/index.js'
import {
  agentErrors,
  HEARTBEAT_VERSION,
  lowerVersion,
  MASKED_TOKEN,
  SHORTEST_TOKEN,
  type AgentError,
  type LookupAnswer,
} from '../wire/index.js'
import type { AgentEvent, Effect, Moment, Wake } from './events.js'
import { heard, heartbeatDue, heartbeatFailed, heartbeatTaken, urgentHeartbeat } from './heartbeat.js'
import { imageRules, tlsRules } from './ironic-rules.js'
import type { AgentPace } from './pace.js'
import {
  initialState,
  runningCommand,
  type AgentConfig,
  type AgentState,
  type Closing,
  type CommandRecord,
  type SavedState,
  type LiveState,
} from './state.js'

export interface Reduction {
  readonly state: AgentState
  readonly effects: readonly Effect[]
  /** Reason why a posted command was not accepted. */
  readonly refusal?: AgentError
}

/** Rules of an agent's decisions, besides its state and the event. */
export interface Rules {
  readonly config: AgentConfig
  readonly pace: AgentPace
  /** Node to look up when no inspection has found another. */
  readonly nodeUuid?: string | null
  readonly standalone?: boolean
  /** Whether the agent can be served by TLS. */
  readonly tls?: boolean
}

/** Waits before the second and later attempts at inspection; their number is the number of retries. */
const INSPECTION_WAITS = [5000, 5000, 6000, 12_000]
/** Extra wait after the first, the second and later conflicts with a locked node. */
const CONFLICT_WAITS = [5000, 10_000, 30_000]
const LOCKED_DOWN =
  'Ironic has already given the token of this boot to another agent and will not accept this agent: locked down until the next boot'
const CLOSED: Record<Closing, string> = {
  rescued: 'the machine is being rescued: the agent takes no more commands',
  'locked down': 'locked down by command until the next boot',
}
/** Pause of the service manager before it restarts a failed agent. */
const START_OVER_WAIT = 5000

/** Lookups at the prompt pace: a node is expected within so many of them, unless its machine was switched on for no flow. */
const HURRIED_ATTEMPTS = 10
/** Part of IPA's waits that an agent that hurries comes to. */
const LEAST_HURRY = 0.3

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
    case 'inspection taken':
      return afterInspection(state, event.uuid, moment, rules, [])
    case 'inspection refused':
      if (event.isUnexpected && rules.pace.repeatUnexpectedInspection)
        return inspectionFailed(state, `${event.why}${TOO_EARLY}`, moment, rules)
      // IPA goes on to look up by MAC addresses: the node may be known and just not under inspection.
      return afterInspection(state, null, moment, rules, [
        gaveUp(`Ironic refused the inspection data: ${event.why}${event.isUnexpected ? TOO_EARLY : ''}`),
      ])
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
    case 'heartbeat taken':
      return heartbeatTaken(state, moment, rules.pace)
    case 'heartbeat failed':
      return heartbeatFailed(state, event.why, moment, rules.pace)
    case 'command posted': {
      const running = runningCommand(saved)
      if (running) return { state, effects: [], refusal: agentErrors.busy(running.name) }
      const { id, name, fullName, params } = event
      const command: CommandRecord = { id, name, fullName, status: 'RUNNING', error: null, result: null, params }
      return { state: heard(withCommands(state, [...saved.commands, command])), effects: [{ kind: 'run', command }] }
    }
    case 'command answered': {
      const running = runningCommand(saved)
      if (running) return { state, effects: [], refusal: agentErrors.busy(running.name) }
      return { state: heard(withCommands(state, [...saved.commands, event.record])), effects: [] }
    }
    case 'program started':
      return { state: changeRunning(state, event.id, (command) => ({ ...command, run: event.run })), effects: [] }
    case 'command ended': {
      const { status, error, result } = event
      const ended = changeRunning(state, event.id, ({ id, name, fullName }) => ({
        ...{ id, name, fullName },
        ...{ status, error, result },
      }))
      return ended === state ? { state, effects: [] } : urgentHeartbeat(ended, moment, rules.pace)
    }
    case 'node seen':
      return {
        state: isDeepStrictEqual(event.hints, saved.hints ?? null) ? state : withSaved(state, { hints: event.hints }),
        effects: [],
      }
    case 'closed':
      return closed(withSaved(state, { closed: event.as }), event.as)
    case 'results read':
      return { state: heard(state), effects: [] }
  }
}

function start(state: AgentState, moment: Moment, rules: Rules): Reduction {
  const { saved } = state
  if (rules.standalone) {
    const running = runningCommand(saved)
    return { state: inPhase(state, 'standalone'), effects: running ? [{ kind: 'resume', command: running }] : [] }
  }
  if (saved.closed) return closed(state, saved.closed)
  // After a restart on the same boot the saved token is still valid; a lookup would return a masked one.
  if (saved.nodeUuid !== null && saved.token !== null) return secureFirst(state, moment, rules)
  if (!saved.inspected) return { state: inPhase(state, 'inspecting'), effects: [{ kind: 'inspect' }] }
  return beginLookup(state, null, moment, rules)
}

/** Settles TLS before the first heartbeat, which sends the callback URL: it is the same for the whole boot. */
function secureFirst(state: AgentState, moment: Moment, rules: Rules): Reduction {
  const { tls, ironicVersion } = state.saved
  if (!rules.tls || tls === null) return serve(state, moment, rules)
  const understood = lowerVersion(ironicVersion ?? '1.1', HEARTBEAT_VERSION) === HEARTBEAT_VERSION
  if (tls || understood) return { state: inPhase(state, 'looking up'), effects: [{ kind: 'secure' }] }
  const old = `this Ironic (${ironicVersion ?? 'of unknown version'}) takes no certificate, which needs ${HEARTBEAT_VERSION}: no TLS`
  const next = serve(withSaved(state, { tls: null }), moment, rules)
  return { ...next, effects: [{ kind: 'log', level: 'info', message: old }, ...next.effects] }
}

function serve(state: AgentState, moment: Moment, rules: Rules): Reduction {
  const running = runningCommand(state.saved)
  const { state: serving, effects } = urgentHeartbeat(inPhase(state, 'serving'), moment, rules.pace)
  return { state: serving, effects: running ? [{ kind: 'resume', command: running }, ...effects] : effects }
}

function closed(state: AgentState, as: Closing): Reduction {
  return { state: inPhase(state, as), effects: [{ kind: 'log', level: 'info', message: CLOSED[as] }] }
}

function startOver(state: AgentState, message: string, moment: Moment): Reduction {
  return {
    state: inPhase(state, 'gave up'),
    effects: [
      { kind: 'log', level: 'error', message: `${message}; starting over` },
      // Weak: an agent that Ironic does not expect must not keep a virtual clock going for ever.
      { kind: 'wait', until: moment.at + START_OVER_WAIT, weak: true, for: 'start over' },
    ],
  }
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

/** The agent does not send the data again, so that an inspection that needs them ends by its time limit. */
const gaveUp = (why: string): Effect => ({ kind: 'give up', why })

/** Ironic answers 404 for a node in any other state (ironic drivers/modules/inspect_utils.py lookup_node). */
const TOO_EARLY =
  '; it takes them only of a node in inspect wait: where its inspection has just begun, the ramdisk was up too early'

function inspectionFailed(state: AgentState, why: string, moment: Moment, rules: Rules): Reduction {
  const wait = INSPECTION_WAITS[state.live.attempts]
  if (wait === undefined)
    return afterInspection(state, null, moment, rules, [gaveUp(`giving up on sending the inspection data: ${why}`)])
  return {
    state: { ...state, live: { ...state.live, attempts: state.live.attempts + 1 } },
    effects: [
      { kind: 'log', level: 'warn', message: `the inspection data did not arrive, trying again: ${why}` },
      { kind: 'wait', until: moment.at + wait * rules.pace.retryFactor, weak: false, for: 'inspect' },
    ],
  }
}

function afterInspection(
  state: AgentState,
  uuid: string | null,
  moment: Moment,
  rules: Rules,
  effects: readonly Effect[],
): Reduction {
  const inspected = { ...state, saved: { ...state.saved, inspected: true } }
  const next = beginLookup(inspected, uuid, moment, rules)
  return { ...next, effects: [...effects, ...next.effects] }
}

function beginLookup(state: AgentState, inspectedNode: string | null, moment: Moment, rules: Rules): Reduction {
  if (rules.config.apiUrls.length === 0) return { state: inPhase(state, 'idle'), effects: [] }
  const { live } = inPhase(state, 'looking up')
  const node = inspectedNode ?? rules.nodeUuid ?? null
  return {
    state: { ...state, live: { ...live, inspectedNode: node, attempts: 0, conflicts: 0, lookupSince: moment.at } },
    effects: [{ kind: 'discover' }],
  }
}

const lookUp = (state: AgentState): Effect => ({ kind: 'look up', nodeUuid: state.live.inspectedNode })

function retryLookup(
  state: AgentState,
  wake: 'discover' | 'look up',
  why: string,
  conflict: boolean,
  moment: Moment,
  { config, pace }: Rules,
): Reduction {
  const { live } = state
  if (moment.at - live.lookupSince >= config.lookupTimeout)
    return startOver(state, `could not find this machine's node: ${why}`, moment)
  const longest = Math.max(config.lookupInterval, Math.min(60_000, 1000 * 2 ** live.attempts))
  const usual = config.lookupInterval + moment.chance * (longest - config.lookupInterval)
  const extra = conflict ? CONFLICT_WAITS[Math.min(live.conflicts, CONFLICT_WAITS.length - 1)]! : 0
  return {
    state: {
      ...state,
      live: { ...live, attempts: live.attempts + 1, conflicts: live.conflicts + (conflict ? 1 : 0) },
    },
    effects: [
      { kind: 'log', level: 'info', message: `the lookup did not succeed yet: ${why}` },
      { kind: 'wait', until: moment.at + (usual + extra) * hurryOf(live.attempts, pace), weak: false, for: wake },
    ],
  }
}

/**
 * The factor on the wait before another lookup. An agent that hurries does so less and less after its first attempts: one that
 * is not expected would fill a journal within minutes of lab time.
 */
const hurryOf = (attempts: number, { retryFactor }: AgentPace): number =>
  Math.max(retryFactor, Math.min(LEAST_HURRY, retryFactor * 1.25 ** (attempts - HURRIED_ATTEMPTS)))

function afterLookup(state: AgentState, { node, config }: LookupAnswer, moment: Moment, rules: Rules): Reduction {
  const issuedToken = config.agent_token ?? ''
  const { saved } = state
  if (issuedToken === MASKED_TOKEN && saved.token === null)
    return {
      state: inPhase(state, 'locked down'),
      effects: [{ kind: 'log', level: 'error', message: LOCKED_DOWN }],
    }
  const token = issuedToken !== MASKED_TOKEN && issuedToken.length >= SHORTEST_TOKEN ? issuedToken : saved.token
  const known: AgentState = {
    ...state,
    saved: {
      ...saved,
      token,
      nodeUuid: node.uuid,
      heartbeatTimeout: config.heartbeat_timeout,
      hints: rootDeviceHints(node),
      images: imageRules(config),
      tlsRules: tlsRules(config),
    },
  }
  const next = secureFirst(known, moment, rules)
  return { ...next, effects: [{ kind: 'log', level: 'info', message: `found node ${node.uuid}` }, ...next.effects] }
}

const withSaved = (state: AgentState, changes: Partial<SavedState>): AgentState => ({
  ...state,
  saved: { ...state.saved, ...changes },
})

const inPhase = (state: AgentState, phase: LiveState['phase']): AgentState => ({
  ...state,
  live: { ...state.live, phase },
})

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
