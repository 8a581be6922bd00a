import type { AgentError } from '../base/wire/index.js'
import type { AgentEffect } from './agent-events.js'
import type { AgentPace } from './pace.js'
import type { AgentConfig, AgentState } from './agent-phases.js'

export interface Reduction {
  readonly state: AgentState
  readonly effects: readonly AgentEffect[]
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
