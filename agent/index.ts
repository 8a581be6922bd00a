/** The agent: IPA's wire protocol around steps. */
export type { Agent, AgentOptions, AgentTls } from './agent-options.js'
export { startAgent } from './agent.js'
export type { AgentProgress } from './command-runner.js'
export { type AgentSettings, clientTls, readSettings } from './configuration.js'
export { selfSigned } from './http/certificate.js'
export { AgentListener } from './http/listener.js'
export { Managers } from './managers.js'
export { type AgentPace, IPA_PACE, PROMPT_PACE } from './pace.js'
