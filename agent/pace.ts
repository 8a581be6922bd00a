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
  repeatUnheard: number | null
}

/** Pace of IPA 13.0.0 (recordings; IPA's source). */
export const IPA_PACE: AgentPace = { heartbeatGap: 5000, retryFactor: 1, repeatUnheard: null }

/** Pace that waits for nothing but Ironic. Ordinary heartbeats stay as far apart as Ironic asks. */
export const PROMPT_PACE: AgentPace = { heartbeatGap: 0, retryFactor: 0.01, repeatUnheard: 50 }
