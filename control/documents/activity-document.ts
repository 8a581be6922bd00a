import type { ProvisionState } from '../../base/wire/index.js'

/** A stretch of the last hour of a lab. */
export interface ActivityPoint {
  /** ISO 8601, by the clock of the computer: the end of the stretch. */
  at: string
  /** Length of the stretch. */
  seconds: number
  /** Nodes in each provision state at its end. */
  states: Readonly<Record<string, number>>
  /** Nodes that came into a state within it, by that state. */
  entered: Readonly<Record<string, number>>
  /** Calls between clients, Ironic, agents and BMCs within it. */
  exchanges: number
}

/** The last hour of a lab, by the clock of the computer. */
export interface ActivityReport {
  /** State that `ironstage up --begin` brings the nodes to; null without it, and when no node goes on by itself. */
  goal: ProvisionState | null
  /** The oldest first. The last stretch is still going on. */
  points: ActivityPoint[]
}
