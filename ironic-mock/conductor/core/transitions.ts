import type { ProvisionState } from '../../../base/wire/index.js'

/** Events that move a node between provision states: verbs of the API, and results of the conductor's work. */
export type TransitionEvent =
  | 'abort'
  | 'adopt'
  | 'clean'
  | 'delete'
  | 'deploy'
  | 'done'
  | 'fail'
  | 'hold'
  | 'inspect'
  | 'manage'
  | 'provide'
  | 'rebuild'
  | 'rescue'
  | 'resume'
  | 'service'
  | 'unhold'
  | 'unrescue'
  | 'wait'

export interface StateRow {
  /** Value of `target_provision_state` in this state; null in stable states. */
  readonly target: ProvisionState | null
  readonly on: Readonly<Partial<Record<TransitionEvent, ProvisionState>>>
}

/** Ironic's state machine, dumped from a real one. */
export const TRANSITIONS: Readonly<Record<ProvisionState, StateRow>> = {
  enroll: { target: null, on: { manage: 'verifying' } },
  verifying: { target: 'manageable', on: { done: 'manageable', fail: 'enroll' } },
  manageable: {
    target: null,
    on: { adopt: 'adopting', clean: 'cleaning', inspect: 'inspecting', provide: 'cleaning' },
  },
  inspecting: { target: 'manageable', on: { done: 'manageable', fail: 'inspect failed', wait: 'inspect wait' } },
  'inspect wait': {
    target: 'manageable',
    on: { abort: 'inspect failed', done: 'manageable', fail: 'inspect failed', resume: 'inspecting' },
  },
  'inspect failed': { target: 'manageable', on: { inspect: 'inspecting', manage: 'manageable' } },
  cleaning: {
    target: 'available',
    on: { done: 'available', manage: 'manageable', fail: 'clean failed', hold: 'clean hold', wait: 'clean wait' },
  },
  'clean wait': {
    target: 'available',
    on: { abort: 'clean failed', fail: 'clean failed', hold: 'clean hold', resume: 'cleaning' },
  },
  'clean hold': { target: 'available', on: { abort: 'clean failed', unhold: 'clean wait' } },
  'clean failed': { target: 'available', on: { manage: 'manageable' } },
  available: { target: null, on: { deploy: 'deploying', manage: 'manageable' } },
  deploying: {
    target: 'active',
    on: { done: 'active', fail: 'deploy failed', hold: 'deploy hold', wait: 'wait call-back' },
  },
  'wait call-back': {
    target: 'active',
    on: {
      abort: 'deploy failed',
      delete: 'deleting',
      fail: 'deploy failed',
      hold: 'deploy hold',
      resume: 'deploying',
    },
  },
  'deploy hold': { target: 'active', on: { abort: 'deploy failed', unhold: 'wait call-back' } },
  'deploy failed': { target: 'active', on: { delete: 'deleting', deploy: 'deploying', rebuild: 'deploying' } },
  active: {
    target: null,
    on: { delete: 'deleting', rebuild: 'deploying', rescue: 'rescuing', service: 'servicing' },
  },
  deleting: { target: 'available', on: { clean: 'cleaning', fail: 'error' } },
  error: { target: null, on: { delete: 'deleting', rebuild: 'deploying' } },
  adopting: { target: 'active', on: { done: 'active', fail: 'adopt failed' } },
  'adopt failed': { target: 'active', on: { adopt: 'adopting', manage: 'manageable' } },
  rescuing: { target: 'rescue', on: { done: 'rescue', fail: 'rescue failed', wait: 'rescue wait' } },
  'rescue wait': {
    target: 'rescue',
    on: { abort: 'rescue failed', delete: 'deleting', fail: 'rescue failed', resume: 'rescuing' },
  },
  rescue: { target: null, on: { delete: 'deleting', rescue: 'rescuing', unrescue: 'unrescuing' } },
  'rescue failed': { target: 'rescue', on: { delete: 'deleting', rescue: 'rescuing', unrescue: 'unrescuing' } },
  unrescuing: { target: 'active', on: { done: 'active', fail: 'unrescue failed' } },
  'unrescue failed': { target: 'active', on: { delete: 'deleting', rescue: 'rescuing', unrescue: 'unrescuing' } },
  servicing: {
    target: 'active',
    on: { done: 'active', fail: 'service failed', hold: 'service hold', wait: 'service wait' },
  },
  'service wait': {
    target: 'active',
    on: {
      abort: 'service failed',
      delete: 'deleting',
      fail: 'service failed',
      hold: 'service hold',
      resume: 'servicing',
    },
  },
  'service hold': {
    target: 'active',
    on: { abort: 'service failed', fail: 'service failed', service: 'servicing', unhold: 'service wait' },
  },
  'service failed': {
    target: 'active',
    on: {
      abort: 'active',
      delete: 'deleting',
      hold: 'service hold',
      rescue: 'rescuing',
      service: 'servicing',
      wait: 'service wait',
    },
  },
}

/** States that keep the target `manageable` of manual cleaning (ironic conductor/manager.py do_node_clean). */
const MANUAL_CLEANING_STATES: readonly ProvisionState[] = ['cleaning', 'clean wait', 'clean hold', 'clean failed']

export interface StateAndTarget {
  state: ProvisionState
  target: ProvisionState | null
}

/**
 * The state after an event, and its target state.
 *
 * @throws Error for an event that the state does not have: a defect of the flow, never a client's fault
 */
export function transition(from: StateAndTarget, event: TransitionEvent): StateAndTarget {
  const state = TRANSITIONS[from.state].on[event]
  if (!state) throw new Error(`no transition for ${event} in ${from.state}`)
  const { target } = TRANSITIONS[state]
  if (event === 'clean' && from.state === 'manageable') return { state, target: 'manageable' }
  if (MANUAL_CLEANING_STATES.includes(from.state) && MANUAL_CLEANING_STATES.includes(state))
    return { state, target: from.target }
  return { state, target }
}

interface VerbTransition {
  event: TransitionEvent
  from: readonly ProvisionState[]
}

const RESCUED: readonly ProvisionState[] = ['rescue wait', 'rescue', 'rescue failed', 'unrescue failed']
const deployTransition: VerbTransition = { event: 'deploy', from: ['available', 'deploy failed'] }
const undeploy: VerbTransition = {
  event: 'delete',
  from: ['active', 'deploy failed', 'wait call-back', 'error', ...RESCUED, 'service wait', 'service failed'],
}

/** Targets of `PUT /v1/nodes/X/states/provision` and the states that allow them (ironic common/states.py). */
export const PROVISION_VERBS: Readonly<Record<string, VerbTransition>> = {
  manage: { event: 'manage', from: ['enroll', 'available', 'inspect failed', 'clean failed', 'adopt failed'] },
  provide: { event: 'provide', from: ['manageable'] },
  inspect: { event: 'inspect', from: ['manageable', 'inspect failed'] },
  clean: { event: 'clean', from: ['manageable'] },
  adopt: { event: 'adopt', from: ['manageable', 'adopt failed'] },
  abort: {
    event: 'abort',
    from: [
      'clean wait',
      'clean hold',
      'inspect wait',
      'rescue wait',
      'deploy hold',
      'wait call-back',
      'service wait',
      'service hold',
      'service failed',
    ],
  },
  active: deployTransition,
  deploy: deployTransition,
  rebuild: { event: 'rebuild', from: ['active', 'error', 'deploy failed'] },
  deleted: undeploy,
  undeploy,
  rescue: { event: 'rescue', from: ['active', 'rescue', 'rescue failed', 'unrescue failed', 'service failed'] },
  unrescue: { event: 'unrescue', from: ['rescue', 'rescue failed', 'unrescue failed'] },
  unhold: { event: 'unhold', from: ['clean hold', 'deploy hold', 'service hold'] },
  service: { event: 'service', from: ['active', 'service hold', 'service failed'] },
}

export const STABLE_STATES: readonly ProvisionState[] = [
  'enroll',
  'manageable',
  'available',
  'active',
  'error',
  'rescue',
]

/** States whose work a restart interrupts (ironic common/states.py STUCK_STATES_TREATED_AS_FAIL). */
export const STUCK_STATES: readonly ProvisionState[] = [
  'deploying',
  'cleaning',
  'verifying',
  'inspecting',
  'adopting',
  'rescuing',
  'unrescuing',
  'deleting',
  'servicing',
]

/** States that change without a request. */
export const UNSTABLE_STATES: readonly ProvisionState[] = [
  ...STUCK_STATES,
  'wait call-back',
  'clean wait',
  'inspect wait',
  'rescue wait',
  'service wait',
]

/** States that allow an agent's lookup (ironic common/states.py LOOKUP_ALLOWED_STATES). */
export const LOOKUP_STATES: readonly ProvisionState[] = [
  'deploying',
  'wait call-back',
  'cleaning',
  'clean wait',
  'inspecting',
  'inspect wait',
  'rescuing',
  'rescue wait',
  'service wait',
]
export const LOOKUP_STATES_FAST_TRACK: readonly ProvisionState[] = [
  ...LOOKUP_STATES,
  'enroll',
  'manageable',
  'available',
  'servicing',
  'service hold',
]

/** States that store a heartbeat; others accept and ignore it (ironic drivers/modules/agent_base.py HEARTBEAT_ALLOWED). */
export const HEARTBEAT_STATES: readonly ProvisionState[] = [
  'wait call-back',
  'clean wait',
  'rescue wait',
  'service wait',
  'deploying',
  'cleaning',
  'rescuing',
  'servicing',
  'clean hold',
  'deploy hold',
  'service hold',
]

/** Unstable or failed states that allow changes of a node (ironic common/states.py UPDATE_ALLOWED_STATES). */
export const UPDATE_ALLOWED: readonly ProvisionState[] = [
  'deploy failed',
  'inspecting',
  'inspect failed',
  'inspect wait',
  'clean failed',
  'error',
  'verifying',
  'adopt failed',
  'rescue failed',
  'unrescue failed',
  'service hold',
  'service failed',
]
