import type { CommandError, CommandStatus, JsonObject, LookupAnswer, TlsIdentity } from '../base/wire/index.js'
import type { Closing, CommandRecord } from './agent-phases.js'

/** Purpose of the agent's timer. */
export type Wake = 'inspect' | 'discover' | 'look up' | 'heartbeat' | 'start over'

export type AgentEvent =
  | { kind: 'started' }
  | { kind: 'woke'; for: Wake }
  /** `uuid` is null when Ironic did not name the node. */
  | { kind: 'inspection accepted'; uuid: string | null }
  /** Ironic knows no node under inspection with this machine's addresses, or does not like the data. */
  | { kind: 'inspection refused'; why: string; isUnexpected: boolean }
  /** No answer, or a temporary error: 409, 5xx. */
  | { kind: 'inspection failed'; why: string }
  | { kind: 'version found'; version: string }
  | { kind: 'version not found'; why: string }
  | { kind: 'looked up'; answer: LookupAnswer }
  | { kind: 'lookup failed'; why: string; conflict: boolean }
  /** The agent is now served by TLS. */
  | { kind: 'secured'; identity: TlsIdentity }
  | { kind: 'not secured'; why: string }
  | { kind: 'heartbeat accepted' }
  | { kind: 'heartbeat failed'; why: string }
  /** An asynchronous command was posted. */
  | { kind: 'command posted'; id: string; name: string; fullName: string; params: Record<string, unknown> }
  /** A synchronous command was posted and has ended: it enters the list only now. */
  | { kind: 'command answered'; record: CommandRecord }
  | { kind: 'program started'; id: string; run: string }
  | { kind: 'command ended'; id: string; status: CommandStatus; error: CommandError | null; result: unknown }
  /** A command sent its node. */
  | { kind: 'node seen'; hints: JsonObject | null }
  /** A command ends this agent's work. */
  | { kind: 'closed'; as: Closing }
  /** A caller with the token has read the results of all commands. */
  | { kind: 'results read' }

/** Input of the reducer besides state and event: the time in milliseconds and a random number in [0, 1). */
export interface Moment {
  readonly at: number
  readonly chance: number
}

/** A failed attempt of an agent to find its Ironic, or its node there. */
export interface AgentSearch {
  readonly missing: 'ironic' | 'node'
  readonly why: string
}

export type AgentEffect =
  | { kind: 'inspect' }
  | { kind: 'discover' }
  | { kind: 'look up'; nodeUuid: string | null }
  /** Start serving by TLS. */
  | { kind: 'secure' }
  | { kind: 'heartbeat' }
  | { kind: 'run'; command: CommandRecord }
  /** A command that was running when the agent stopped: attach to its program, or report it as lost. */
  | { kind: 'resume'; command: CommandRecord }
  /** Sets the timer, replacing an earlier wait. */
  | { kind: 'wait'; until: number; weak: boolean; for: Wake }
  | { kind: 'log'; level: 'info' | 'warn' | 'error'; message: string }
  /** The agent looks for its Ironic or its node again, for people who wait for it. */
  | { kind: 'search again'; search: AgentSearch }
  /** The reason why the agent does not try again, for people who look at the machine. */
  | { kind: 'give up'; why: string }
