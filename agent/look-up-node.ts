import { rootDeviceHints } from '../steps/index.js'
import { MASKED_TOKEN, MIN_AGENT_TOKEN_LENGTH, type LookupAnswer } from '../base/wire/index.js'
import type { AgentEffect, Moment } from './agent-events.js'
import { imageRules, tlsRules } from './ironic-rules.js'
import type { AgentPace } from './pace.js'
import type { Reduction, Rules } from './reduction.js'
import { inPhase, withSaved, type AgentState } from './agent-phases.js'

/** Waits before the second and later attempts at inspection; their number is the number of retries. */
const INSPECTION_WAITS = [5000, 5000, 6000, 12_000]
/** Extra wait after the first, the second and later conflicts with a locked node. */
const CONFLICT_WAITS = [5000, 10_000, 30_000]
const LOCKED_DOWN =
  'Ironic has already given the token of this boot to another agent and will not accept this agent: locked down until the next boot'
/** Pause of the service manager before it restarts a failed agent. */
const SERVICE_RESTART_DELAY = 5000

/** Lookups at the prompt pace: a node is expected within so many of them, unless its machine was switched on for no flow. */
const PROMPT_LOOKUP_ATTEMPTS = 10
/** Largest factor on IPA's waits that an agent at the prompt pace comes to. */
const MAX_RETRY_FACTOR = 0.3

/** The agent does not send the data again, so that an inspection that needs them ends by its time limit. */
const gaveUp = (why: string): AgentEffect => ({ kind: 'give up', why })

/** Ironic answers 404 for a node in any other state (ironic drivers/modules/inspect_utils.py lookup_node). */
const TOO_EARLY =
  '; Ironic accepts inspection data only while the node is in inspect wait. If the inspection has just started, the ramdisk booted too early'

/** The agent goes on to look up its node by MAC addresses, as IPA: it may be known and just not under inspection. */
export function inspectionRefused(
  state: AgentState,
  { why, isUnexpected }: { why: string; isUnexpected: boolean },
  moment: Moment,
  rules: Rules,
): Reduction {
  const reason = `${why}${isUnexpected ? TOO_EARLY : ''}`
  if (isUnexpected && rules.pace.repeatUnexpectedInspection) return inspectionFailed(state, reason, moment, rules)
  return afterInspection(state, null, moment, rules, [gaveUp(`Ironic refused the inspection data: ${reason}`)])
}

export function inspectionFailed(state: AgentState, why: string, moment: Moment, rules: Rules): Reduction {
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

export function afterInspection(
  state: AgentState,
  uuid: string | null,
  moment: Moment,
  rules: Rules,
  effects: readonly AgentEffect[],
): Reduction {
  const inspected = { ...state, saved: { ...state.saved, inspected: true } }
  const { state: next, effects: lookup } = beginLookup(inspected, uuid, moment, rules)
  // Ironic may switch the machine off for the inspection's end: what it does at this instant comes first.
  const wait: AgentEffect = { kind: 'wait', until: moment.at, weak: false, for: 'discover' }
  return { state: next, effects: [...effects, ...(lookup.length > 0 ? [wait] : [])] }
}

export function beginLookup(state: AgentState, inspectedNode: string | null, moment: Moment, rules: Rules): Reduction {
  if (rules.config.apiUrls.length === 0) return { state: inPhase(state, 'idle'), effects: [] }
  const { live } = inPhase(state, 'looking up')
  const node = inspectedNode ?? rules.nodeUuid ?? null
  return {
    state: { ...state, live: { ...live, inspectedNode: node, attempts: 0, conflicts: 0, lookupSince: moment.at } },
    effects: [{ kind: 'discover' }],
  }
}

export const lookUp = (state: AgentState): AgentEffect => ({ kind: 'look up', nodeUuid: state.live.inspectedNode })

export function retryLookup(
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
      { kind: 'search again', search: { missing: wake === 'discover' ? 'ironic' : 'node', why } },
      {
        kind: 'wait',
        until: moment.at + (usual + extra) * retryFactorAfter(live.attempts, pace),
        weak: false,
        for: wake,
      },
    ],
  }
}

/**
 * The factor on the wait before another lookup. At the prompt pace it grows after the first attempts: an agent that
 * is not expected would fill a journal within minutes of lab time.
 */
const retryFactorAfter = (attempts: number, { retryFactor }: AgentPace): number =>
  Math.max(retryFactor, Math.min(MAX_RETRY_FACTOR, retryFactor * 1.25 ** (attempts - PROMPT_LOOKUP_ATTEMPTS)))

export function startOver(state: AgentState, message: string, moment: Moment): Reduction {
  return {
    state: inPhase(state, 'gave up'),
    effects: [
      { kind: 'log', level: 'error', message: `${message}; starting over` },
      // Weak: an agent that Ironic does not expect must not keep a virtual clock going for ever.
      { kind: 'wait', until: moment.at + SERVICE_RESTART_DELAY, weak: true, for: 'start over' },
    ],
  }
}

/** The agent with the node that the lookup found; locked down if the token of this boot went to another agent. */
export function foundNode(state: AgentState, { node, config }: LookupAnswer): Reduction {
  const issuedToken = config.agent_token ?? ''
  const { saved } = state
  if (issuedToken === MASKED_TOKEN && saved.token === null)
    return {
      state: inPhase(state, 'locked down'),
      effects: [{ kind: 'log', level: 'error', message: LOCKED_DOWN }],
    }
  const token = issuedToken !== MASKED_TOKEN && issuedToken.length >= MIN_AGENT_TOKEN_LENGTH ? issuedToken : saved.token
  const known = withSaved(state, {
    token,
    nodeUuid: node.uuid,
    heartbeatTimeout: config.heartbeat_timeout,
    hints: rootDeviceHints(node),
    images: imageRules(config),
    tlsRules: tlsRules(config),
  })
  return { state: known, effects: [{ kind: 'log', level: 'info', message: `found node ${node.uuid}` }] }
}
