/** The agent: IPA's wire protocol around steps. */
export { startAgent, type Agent, type AgentOptions } from './agent.js'
export type { AgentProgress } from './command-runner.js'
export type { HardwareReader } from './inspection.js'
export { AgentListener, type AgentListenerOptions } from './listener.js'
export { Managers } from './managers.js'
export { IPA_PACE, PROMPT_PACE, type AgentPace } from './pace.js'
export type { Phase as AgentPhase } from './state.js'
