/** Waits of an agent that are only custom. Milliseconds. */
export interface AgentPace {
  /** Shortest gap between two heartbeats, however urgent the second is. */
  heartbeatGap: number
  /** Factor on the waits between attempts at inspection, lookup and heartbeats. */
  retryFactor: number
  /**
   * First wait before an urgent heartbeat is repeated that Ironic accepted without asking for the result of the ended
   * command; doubled each time. Ironic drops heartbeats while it holds the node's lock, which is rare at IPA's pace and
   * frequent at a prompt one. null: wait for the next ordinary heartbeat, as IPA does.
   */
  repeatUnanswered: number | null
  /**
   * True if inspection data that Ironic does not expect (404) are sent again, as after a lost connection. IPA sends
   * them once; a simulated ramdisk may be up before a busy Ironic has begun to wait for it.
   */
  repeatUnexpectedInspection: boolean
}

/**
 * Pace of ironic-python-agent 13.0.0 (recordings; agent.py IronicPythonAgentHeartbeater, inspector.py call_inspector).
 */
export const IPA_PACE: AgentPace = {
  heartbeatGap: 5000,
  retryFactor: 1,
  repeatUnanswered: null,
  repeatUnexpectedInspection: false,
}

/** Pace that waits for nothing but Ironic. Ordinary heartbeats stay as far apart as Ironic asks. */
export const PROMPT_PACE: AgentPace = {
  heartbeatGap: 0,
  retryFactor: 0.01,
  repeatUnanswered: 50,
  repeatUnexpectedInspection: false,
}

/** Pace of IPA, for ramdisks that may be up sooner than an Ironic elsewhere waits for them. */
export const FLEET_PACE: AgentPace = { ...IPA_PACE, repeatUnexpectedInspection: true }
