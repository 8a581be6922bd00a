/** How long an agent waits where nothing but custom makes it wait. Milliseconds. */
export interface AgentPace {
  /** Two heartbeats are at least this far apart, however urgent the second is. */
  heartbeatGap: number
  /** Factor on the waits between attempts at inspection, lookup and heartbeats. */
  retryFactor: number
  /**
   * When Ironic took a heartbeat and yet did not ask how the command that had just ended went, the first wait before
   * saying it again; doubled each time. Ironic drops heartbeats that come while it still holds the node's lock, which at
   * IPA's pace happens seldom and without any pace often. null: wait for the next ordinary heartbeat, as IPA does.
   */
  repeatUnheard: number | null
}

/** As IPA 13.0.0 paces itself (recordings; IPA's source). */
export const IPA_PACE: AgentPace = { heartbeatGap: 5000, retryFactor: 1, repeatUnheard: null }

/** Nothing is waited for but Ironic. Ordinary heartbeats stay as far apart as Ironic asks. */
export const PROMPT_PACE: AgentPace = { heartbeatGap: 0, retryFactor: 0.01, repeatUnheard: 50 }
