import type { CommandError, CommandStatus, JsonObject, LookupAnswer, TlsIdentity } from '../wire/index.js'
import type { Closing, CommandRecord } from './state.js'

/** What the agent's one timer is for. */
export type Wake = 'inspect' | 'discover' | 'look up' | 'heartbeat' | 'start over'

export type AgentEvent =
  | { kind: 'started' }
  | { kind: 'woke'; for: Wake }
  /** `uuid` is null where Ironic did not say which node this is. */
  | { kind: 'inspection taken'; uuid: string | null }
  | { kind: 'inspection refused'; why: string }
  /** Nobody answered, or what may pass: 409, 5xx. */
  | { kind: 'inspection failed'; why: string }
  | { kind: 'version found'; version: string }
  | { kind: 'version not found'; why: string }
  | { kind: 'looked up'; answer: LookupAnswer }
  | { kind: 'lookup failed'; why: string; conflict: boolean }
  /** The agent is served by TLS from now on. */
  | { kind: 'secured'; identity: TlsIdentity }
  | { kind: 'not secured'; why: string }
  | { kind: 'heartbeat taken' }
  | { kind: 'heartbeat failed'; why: string }
  /** An asynchronous command was posted. */
  | { kind: 'command posted'; id: string; name: string; fullName: string; params: Record<string, unknown> }
  /** A synchronous one was posted and has ended: it enters the list only now. */
  | { kind: 'command answered'; record: CommandRecord }
  | { kind: 'program started'; id: string; run: string }
  | { kind: 'command ended'; id: string; status: CommandStatus; error: CommandError | null; result: unknown }
  /** A command told something about the node. */
  | { kind: 'node seen'; hints: JsonObject | null }
  /** A command has ended this agent's work. */
  | { kind: 'closed'; as: Closing }
  /** Somebody with the token has read how commands went. */
  | { kind: 'results read' }

/** What the reducer may know of the world: the time in milliseconds and one roll of the dice in [0, 1). */
export interface Moment {
  readonly at: number
  readonly chance: number
}

export type Effect =
  | { kind: 'inspect' }
  | { kind: 'discover' }
  | { kind: 'look up'; nodeUuid: string | null }
  /** Serve the agent by TLS. */
  | { kind: 'secure' }
  | { kind: 'heartbeat' }
  | { kind: 'run'; command: CommandRecord }
  /** A command that was running when the agent stopped: take up its program, or say that it is lost. */
  | { kind: 'resume'; command: CommandRecord }
  /** Replaces what was waited for before. */
  | { kind: 'wait'; until: number; weak: boolean; for: Wake }
  | { kind: 'log'; level: 'info' | 'warn' | 'error'; message: string }
